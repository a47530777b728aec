"""people press"""

from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

revision = '0002'
down_revision = '0001'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('arrivals',
    sa.Column('platform', sa.Text(), nullable=False),
    sa.Column('key', sa.Text(), nullable=False),
    sa.Column('at', postgresql.TIMESTAMP(timezone=True), server_default=sa.text('clock_timestamp()'), nullable=False),
    sa.PrimaryKeyConstraint('platform', 'key')
    )
    op.create_index(op.f('ix_arrivals_at'), 'arrivals', ['at'], unique=False)
    op.create_table('mutes',
    sa.Column('client_id', sa.Text(), nullable=False),
    sa.Column('family_key', sa.Text(), nullable=False),
    sa.Column('until', postgresql.TIMESTAMP(timezone=True), nullable=False),
    sa.Column('by', sa.Text(), nullable=False),
    sa.Column('at', postgresql.TIMESTAMP(timezone=True), server_default=sa.text('clock_timestamp()'), nullable=False),
    sa.PrimaryKeyConstraint('client_id', 'family_key')
    )
    op.create_table('prompts',
    sa.Column('id', sa.Text(), nullable=False),
    sa.Column('client_id', sa.Text(), nullable=False),
    sa.Column('card_id', sa.Text(), nullable=False),
    sa.Column('account', sa.Text(), nullable=False),
    sa.Column('action', sa.Text(), nullable=False),
    sa.Column('incident_id', sa.Text(), nullable=False),
    sa.Column('subject_id', sa.Text(), nullable=False),
    sa.Column('asks', sa.Text(), nullable=False),
    sa.Column('choices', postgresql.ARRAY(sa.Text()), server_default='{}', nullable=False),
    sa.Column('message_ref', sa.Text(), nullable=True),
    sa.Column('expires_at', postgresql.TIMESTAMP(timezone=True), nullable=False),
    sa.Column('answered_at', postgresql.TIMESTAMP(timezone=True), nullable=True),
    sa.ForeignKeyConstraint(['card_id'], ['cards.id'], ),
    sa.PrimaryKeyConstraint('id')
    )
    op.create_index('prompts_by_message', 'prompts', ['account', 'message_ref'], unique=False)
    op.drop_constraint(op.f('one_button'), 'buttons', type_='unique')
    op.create_unique_constraint('one_button', 'buttons', ['card_id', 'action', 'subject_id'])
    op.add_column('incidents', sa.Column('taken_by', sa.Text(), nullable=True))
    op.add_column('incidents', sa.Column('taken_account', sa.Text(), nullable=True))
    op.add_column('incidents', sa.Column('taken_at', postgresql.TIMESTAMP(timezone=True), nullable=True))
    op.add_column('people', sa.Column('timezone', sa.Text(), nullable=True))
    op.add_column('rooms', sa.Column('bound_by', sa.Text(), nullable=True))
    op.add_column('triage_runs', sa.Column('stopped_by', sa.Text(), nullable=True))
    op.add_column('verdicts', sa.Column('cause', sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column('verdicts', 'cause')
    op.drop_column('triage_runs', 'stopped_by')
    op.drop_column('rooms', 'bound_by')
    op.drop_column('people', 'timezone')
    op.drop_column('incidents', 'taken_at')
    op.drop_column('incidents', 'taken_account')
    op.drop_column('incidents', 'taken_by')
    op.drop_constraint('one_button', 'buttons', type_='unique')
    op.create_unique_constraint(op.f('one_button'), 'buttons', ['card_id', 'action'], postgresql_nulls_not_distinct=False)
    op.drop_index('prompts_by_message', table_name='prompts')
    op.drop_table('prompts')
    op.drop_table('mutes')
    op.drop_index(op.f('ix_arrivals_at'), table_name='arrivals')
    op.drop_table('arrivals')
