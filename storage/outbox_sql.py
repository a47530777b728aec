"""What the outbox asks of the database, statement by statement."""

from sqlalchemy import text

_CHAT = "rooms.platform || ':' || coalesce(rooms.chat_id, rooms.chat)"
"""What is paced: two rooms in one chat share its limits."""

CLAIM = text(f"""
    update cards set
        claim = claim + 1, attempts = attempts + 1,
        due_at = clock_timestamp() + make_interval(secs => :hold_s),
        posting_since = case when message_ref is null
                             then coalesce(cards.posting_since, clock_timestamp()) end
    from rooms, (
        select cards.id, cards.posting_since
        from cards where cards.id in (
            select id from (
                select cards.id, cards.message_ref, cards.due_at, row_number() over (
                    partition by {_CHAT}
                    order by cards.message_ref is not null, cards.due_at) as place
                from cards join rooms on rooms.id = cards.room_id
                where wanted > sent and dead_reason is null and due_at <= clock_timestamp()
                  and rooms.platform <> all(cast(:paused as text[]))
                  and {_CHAT} <> all(case when cards.message_ref is null
                                          then cast(:no_posts as text[])
                                          else cast(:no_edits as text[]) end)
            ) as ranked where place = 1 order by message_ref is not null, due_at limit :limit)
          and wanted > sent and dead_reason is null and due_at <= clock_timestamp()
        for update skip locked
    ) as due
    where cards.id = due.id and rooms.id = cards.room_id
    returning cards.id as card_id, cards.client_id, subject_kind, subject_id, room_id,
              {_CHAT} as chat_key, rooms.platform, wanted, sent, sent_hash, message_ref,
              due.posting_since, posted_at is not null as posted_before, attempts, plain, claim,
              reply_ref, digest_id
""")  # noqa: S608 - put together from our own words
CLAIM_MESSAGES = text(f"""
    update messages set
        claim = messages.claim + 1, attempts = messages.attempts + 1,
        due_at = clock_timestamp() + make_interval(secs => :hold_s),
        posting_since = case when messages.message_ref is null
                             then coalesce(messages.posting_since, clock_timestamp()) end
    from cards, rooms, (
        select messages.id, messages.posting_since
        from messages where messages.id in (
            select id from (
                select messages.id, messages.due_at, row_number() over (
                    partition by {_CHAT} order by messages.audible desc, messages.due_at) as place
                from messages join cards on cards.id = messages.card_id
                     join rooms on rooms.id = cards.room_id
                where messages.wanted > messages.sent and messages.dead_reason is null
                  and messages.due_at <= clock_timestamp() and cards.message_ref is not null
                  and rooms.platform <> all(cast(:paused as text[]))
                  and {_CHAT} <> all(case when messages.message_ref is null
                                          then cast(:no_posts as text[])
                                          else cast(:no_edits as text[]) end)
            ) as ranked where place = 1 order by due_at limit :limit)
          and wanted > sent and dead_reason is null and due_at <= clock_timestamp()
        for update skip locked
    ) as due
    where messages.id = due.id and cards.id = messages.card_id and rooms.id = cards.room_id
    returning messages.id as message_id, card_id, messages.client_id, cards.subject_id,
              cards.room_id, {_CHAT} as chat_key, rooms.platform, kind, dedup_key, audible,
              cards.message_ref as card_ref, messages.message_ref, messages.wanted, messages.sent,
              messages.sent_hash, due.posting_since, messages.attempts, messages.claim
""")  # noqa: S608 - put together from our own words
NEXT_DUE = text("""
    select extract(epoch from min(due_at) - clock_timestamp())::float8 from (
        select min(due_at) as due_at from cards where wanted > sent and dead_reason is null
        union all
        select min(messages.due_at) from messages join cards on cards.id = messages.card_id
        where messages.wanted > messages.sent and messages.dead_reason is null
          and cards.message_ref is not null
    ) as waiting
""")
SENT = text("""
    update cards set
        sent = greatest(sent, :revision), sent_hash = :hash, message_ref = :ref,
        posting_since = null, posted_at = coalesce(posted_at, clock_timestamp()), attempts = 0,
        plain = plain or :plain, digest_id = null,
        due_at = case when wanted > :revision then clock_timestamp() else due_at end
    where id = :id and claim = :claim
""")
ADOPTED = text("""
    update cards set
        sent_hash = null, message_ref = :ref, posting_since = null, attempts = 0,
        posted_at = coalesce(posted_at, clock_timestamp()), digest_id = null,
        due_at = clock_timestamp()
    where id = :id and claim = :claim
""")
LATER = text("""
    update cards set
        due_at = clock_timestamp() + make_interval(secs => :delay_s),
        posting_since = case when :posted_nothing then null else posting_since end,
        attempts = attempts - case when :counted then 0 else 1 end,
        message_ref = case when :lost then null else message_ref end
    where id = :id and claim = :claim
""")
FOLDED = text("""
    update cards set
        sent = greatest(sent, :revision), sent_hash = null, posting_since = null, attempts = 0,
        digest_id = :digest_id,
        due_at = case when wanted > :revision then clock_timestamp() else due_at end
    where id = :id and claim = :claim
""")
DEAD = text("""
    update cards set dead_reason = :reason, posting_since = null where id = :id and claim = :claim
""")
REHOMED = text("""
    update cards set
        room_id = :room_id, message_ref = null, sent_hash = null, posting_since = null,
        attempts = 0, plain = false, digest_id = null, due_at = clock_timestamp()
    where id = :id and claim = :claim
""")
HAS_CARD = text("""
    select room_id from cards
    where client_id = :client_id and subject_kind = :subject_kind and subject_id = :subject_id
""")
LETTER = text("""
    insert into dead_letters (client_id, kind, subject_id, reason, error)
    values (:client_id, :kind, :subject_id, 'delivery_failed', :error)
""")
SENT_MESSAGE = text("""
    update messages set
        sent = greatest(sent, :revision), sent_hash = :hash, message_ref = :ref,
        audible = :audible, posting_since = null, attempts = 0,
        due_at = case when wanted > :revision then clock_timestamp() else due_at end
    where id = :id and claim = :claim
""")
ADOPTED_MESSAGE = text("""
    update messages set
        sent_hash = null, message_ref = :ref, posting_since = null, attempts = 0,
        due_at = clock_timestamp()
    where id = :id and claim = :claim
""")
LATER_MESSAGE = text("""
    update messages set
        due_at = clock_timestamp() + make_interval(secs => :delay_s),
        posting_since = case when :posted_nothing then null else posting_since end,
        attempts = attempts - case when :counted then 0 else 1 end,
        message_ref = case when :lost then null else message_ref end
    where id = :id and claim = :claim
""")
DEAD_MESSAGE = text("""
    update messages set dead_reason = :reason, posting_since = null
    where id = :id and claim = :claim
""")
AUDIBLE = text("""
    select count(*) from messages join cards on cards.id = messages.card_id
    where cards.subject_kind = 'incident' and cards.subject_id = :incident_id
      and messages.audible and messages.message_ref is not null and cards.room_id = :room_id
""")
NEW_CARDS = text(f"""
    select count(*) from cards join rooms on rooms.id = cards.room_id
    where {_CHAT} = :chat_key and cards.subject_kind = 'incident'
      and cards.posted_at > clock_timestamp() - make_interval(secs => :within_s)
""")  # noqa: S608 - put together from our own words
LOCK_ROOM = text("select 1 from rooms where id = :room_id for update")
OPEN_STORM = text("""
    select id from cards
    where client_id = :client_id and subject_kind = 'storm' and room_id = :room_id
      and dead_reason is null and wished_at > clock_timestamp() - make_interval(secs => :quiet_s)
    order by wished_at desc limit 1
""")
ADD_STORM = text("""
    insert into cards (id, client_id, subject_kind, subject_id, room_id, reason, due_at)
    values (:id, :client_id, 'storm', :id, :room_id, 'storm',
            clock_timestamp() + make_interval(secs => :due_s))
""")
WISH_STORM = text("""
    update cards set
        wanted = wanted + 1, wished_at = clock_timestamp(),
        due_at = case when wanted > sent
                      then least(due_at, clock_timestamp() + make_interval(secs => :due_s))
                      else clock_timestamp() + make_interval(secs => :due_s) end
    where id = :id
""")
IN_DIGEST = text("""
    select subject_id from cards where digest_id = :digest_id order by wished_at
""")
