"""people ask"""

from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

revision = '0003'
down_revision = '0002'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('inquiries',
    sa.Column('id', sa.Text(), nullable=False),
    sa.Column('client_id', sa.Text(), nullable=False),
    sa.Column('room_id', sa.Text(), nullable=False),
    sa.Column('account', sa.Text(), nullable=False),
    sa.Column('state', sa.Text(), nullable=False),
    sa.Column('asked_at', postgresql.TIMESTAMP(timezone=True), nullable=False),
    sa.Column('body', postgresql.JSONB(astext_type=sa.Text()), nullable=False),
    sa.ForeignKeyConstraint(['room_id'], ['rooms.id'], ),
    sa.PrimaryKeyConstraint('id')
    )
    op.create_index('inquiries_by_account', 'inquiries', ['account', 'asked_at'], unique=False)
    op.add_column('cards', sa.Column('reply_ref', sa.Text(), nullable=True))
    op.drop_constraint(op.f('findings_incident_id_fkey'), 'findings', type_='foreignkey')
    op.drop_constraint(op.f('triage_runs_incident_id_fkey'), 'triage_runs', type_='foreignkey')


def downgrade() -> None:
    op.create_foreign_key(op.f('triage_runs_incident_id_fkey'), 'triage_runs', 'incidents', ['incident_id'], ['id'])
    op.create_foreign_key(op.f('findings_incident_id_fkey'), 'findings', 'incidents', ['incident_id'], ['id'])
    op.drop_column('cards', 'reply_ref')
    op.drop_index('inquiries_by_account', table_name='inquiries')
    op.drop_table('inquiries')
