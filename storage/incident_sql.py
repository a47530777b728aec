"""Every statement about incidents, named; `storage.incidents` says when each is used."""

from sqlalchemy import text

LOCK = text("select pg_advisory_xact_lock(hashtextextended('intake:' || :client_id, 0))")
SEATS = text("""
    select m.incident_id, i.state as incident_state, i.first_contact, m.fingerprint, m.group_id,
           m.state, e.starts_at, m.last_seen_at
    from incident_members m
    join incidents i on i.id = m.incident_id
    join alert_events e on e.id = m.event_id
    where m.client_id = :client_id
      and m.fingerprint in (select json_array_elements_text(cast(:fingerprints as json)))
      and i.state <> 'merged'
""")
HOMES = text("""
    select m.group_id, m.incident_id
    from incident_members m join incidents i on i.id = m.incident_id
    where m.client_id = :client_id
      and m.group_id in (select json_array_elements_text(cast(:groups as json)))
      and i.state <> 'merged' and (i.state = 'open' or i.activity_at >= :active_since)
    group by m.group_id, m.incident_id, i.activity_at
    order by bool_or(m.state = 'firing') desc, i.activity_at desc
""")
EARLIER = text("""
    select m.group_id, count(distinct m.incident_id) as incidents
    from incident_members m join incidents i on i.id = m.incident_id
    where m.client_id = :client_id
      and m.group_id in (select json_array_elements_text(cast(:groups as json)))
      and i.state <> 'merged' and i.opened_at >= :since
    group by m.group_id
""")
FLIPS = text("""
    select group_id, fingerprint, incident_id, to_state, at, trigger from (
        select t.*, row_number() over (partition by group_id order by id desc) as back
        from transitions t
        where client_id = :client_id
          and group_id in (select json_array_elements_text(cast(:groups as json)))
          and at >= :since
    ) as newest
    where back <= :flips order by id
""")
JOINABLE = text("""
    select id from incidents
    where client_id = :client_id and state = 'open' and not first_contact
      and (window_until >= :now or opened_at >= :opened_since)
    order by opened_at desc limit :limit
""")
_SEATED = (
    "select incident_id, fingerprint, group_id, event_id, state, joined_at, last_seen_at, reason,"
    " shared from incident_members"
)
# Each arm reads whole rows: joining them to the members again costs members times picked rows.
MEMBERS = text(f"""
    select m.incident_id, m.group_id, m.state, m.joined_at, m.last_seen_at, m.reason, m.shared,
           e.alert
    from unnest(cast(:ids as text[])) as i (id)
    cross join lateral (
        ({_SEATED} where incident_id = i.id order by joined_at desc limit :sample)
        union
        ({_SEATED} where incident_id = i.id order by joined_at limit 1)
        union
        {_SEATED} where incident_id = i.id and fingerprint = any(cast(:fingerprints as text[]))
    ) as m
    join alert_events e on e.id = m.event_id
    order by m.joined_at, e.starts_at, m.fingerprint
""")  # noqa: S608 - a constant
COUNTS = text("""
    select incident_id, count(*) as size, count(*) filter (where state = 'firing') as firing
    from incident_members where incident_id = any(cast(:ids as text[])) group by incident_id
""")
GROUPS_OF = text("""
    select id, client_id, family_key, rule, scope, alert_class from alert_groups
    where id = any(cast(:ids as text[]))
""")
NUMBERS = text("""
    update clients set next_number = next_number + :count where id = :client_id
    returning next_number - :count as first
""")
KEEP_MEMBERS = text("""
    insert into incident_members (
        incident_id, fingerprint, client_id, group_id, event_id, state, joined_at, last_seen_at,
        reason, shared
    )
    select k.incident_id, k.fingerprint, :client_id, k.group_id, k.event_id, k.state, k.joined_at,
           k.last_seen_at, k.reason, k.shared
    from json_to_recordset(cast(:rows as json)) as k (
        incident_id text, fingerprint text, group_id text, event_id bigint, state text,
        joined_at timestamptz, last_seen_at timestamptz, reason text, shared jsonb)
    on conflict (incident_id, fingerprint) do update set
        event_id = excluded.event_id, state = excluded.state,
        last_seen_at = greatest(incident_members.last_seen_at, excluded.last_seen_at)
""")
ABSORB = text("""
    insert into incident_members (
        incident_id, fingerprint, client_id, group_id, event_id, state, joined_at, last_seen_at,
        reason, shared
    )
    select :into, fingerprint, client_id, group_id, event_id, state, joined_at, last_seen_at,
           :reason, cast(:shared as jsonb)
    from incident_members where incident_id = :from_id
    on conflict (incident_id, fingerprint) do nothing
""")
SPLIT = text("""
    update incident_members set incident_id = :into, reason = 'by_hand'
    where incident_id = :from_id and group_id = :group_id
""")
GIVE_BACK = text("""
    update incident_members mine set state = theirs.state, last_seen_at = theirs.last_seen_at,
           event_id = theirs.event_id
    from incident_members theirs
    where mine.incident_id = :merged and theirs.incident_id = :other
      and theirs.fingerprint = mine.fingerprint
""")
LET_GO = text("""
    delete from incident_members theirs using incident_members mine
    where theirs.incident_id = :other and mine.incident_id = :merged
      and theirs.fingerprint = mine.fingerprint and theirs.joined_at = mine.joined_at
      and exists (
          select from incident_members rest
          where rest.incident_id = :other and not exists (
              select from incident_members m
              where m.incident_id = :merged and m.fingerprint = rest.fingerprint))
""")
"""What was taken over came with the time it had joined the other."""
KEEP_FLIPS = text("""
    insert into transitions (client_id, group_id, fingerprint, incident_id, to_state, at, trigger)
    select :client_id, group_id, fingerprint, incident_id, to_state, at, trigger
    from json_to_recordset(cast(:rows as json)) as k (
        group_id text, fingerprint text, incident_id text, to_state text, at timestamptz,
        trigger text)
""")
SLIDE = text("""
    update incident_members m set last_seen_at = :now, event_id = k.event_id
    from json_to_recordset(cast(:rows as json)) as k (fingerprint text, event_id bigint)
    where m.client_id = :client_id and m.fingerprint = k.fingerprint and m.state = 'firing'
    returning m.incident_id
""")
ACTIVE = text("""
    update incidents set activity_at = :now where id = any(cast(:ids as text[]))
      and state <> 'merged'
""")
NEIGHBOURS = text("""
    select i.id, i.severity, i.state, (
        select g.family_key from incident_members m join alert_groups g on g.id = m.group_id
        where m.incident_id = i.id order by m.joined_at limit 1
    ) as key
    from incidents i
    where i.client_id = :client_id and i.client_id <> :drill and i.id <> :id
      and i.state <> 'merged' and i.activity_at >= :since
    order by i.activity_at desc
""")
JUDGED = text("""
    update incidents set judged_at = :at, judged_severity = :severity, judged_rules = :rules,
                         judged_scopes = :scopes, since_judged = 0
    where id = :id
""")
GREEN_DUE = text("""
    select id from incidents
    where client_id = :client_id and state = 'open' and green_at <= :now
""")
WITHOUT_NEWS = text("""
    select id from incidents
    where client_id = :client_id and state = 'open' and activity_at <= :since
""")
CLOSE = text("""
    with closed as (
        update incidents set state = 'closed', green_at = null
        where client_id = :client_id and id = any(cast(:ids as text[])) returning id
    ), stale as (
        update incident_members m set state = 'stale' from closed
        where m.incident_id = closed.id and m.state = 'firing'
        returning m.incident_id, m.group_id, m.fingerprint
    )
    insert into transitions (client_id, incident_id, group_id, fingerprint, to_state, at)
    select :client_id, incident_id, group_id, fingerprint, 'stale', :now from stale
    order by incident_id, fingerprint
""")

BLIND = text("""
    select incidents.id from incidents
    cross join lateral (
        select blind from findings
        where findings.client_id = incidents.client_id and findings.incident_id = incidents.id
        order by findings.created_at desc limit 1
    ) as newest
    where incidents.client_id = :client_id and incidents.state = 'open'
      and incidents.looked_again_at is null and newest.blind
""")
LOOK_AGAIN = text("update incidents set looked_again_at = :now where id = :id")
