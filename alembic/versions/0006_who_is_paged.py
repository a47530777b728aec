"""who is paged"""

from alembic import op
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

revision = '0006'
down_revision = '0005'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index('incidents_merged', 'incidents', ['merged_into'], unique=False, postgresql_where=sa.text('merged_into is not null'))
    op.create_table('page_decisions',
    sa.Column('incident_id', sa.Text(), nullable=False),
    sa.Column('client_id', sa.Text(), nullable=False),
    sa.Column('reason', sa.Text(), nullable=True),
    sa.Column('route', sa.Text(), server_default='', nullable=False),
    sa.Column('mentions', postgresql.ARRAY(sa.Text()), server_default='{}', nullable=False),
    sa.Column('pagers', postgresql.ARRAY(sa.Text()), server_default='{}', nullable=False),
    sa.Column('at', postgresql.TIMESTAMP(timezone=True), server_default=sa.text('clock_timestamp()'), nullable=False),
    sa.ForeignKeyConstraint(['incident_id'], ['incidents.id'], ),
    sa.PrimaryKeyConstraint('incident_id')
    )
    op.create_table('pages',
    sa.Column('id', sa.BigInteger(), sa.Identity(always=True), nullable=False),
    sa.Column('client_id', sa.Text(), nullable=False),
    sa.Column('incident_id', sa.Text(), nullable=False),
    sa.Column('pager', sa.Text(), nullable=False),
    sa.Column('action', sa.Text(), nullable=False),
    sa.Column('state', sa.Text(), server_default='waiting', nullable=False),
    sa.Column('body', postgresql.JSONB(astext_type=sa.Text()), nullable=False),
    sa.Column('attempts', sa.Integer(), server_default='0', nullable=False),
    sa.Column('error', sa.Text(), nullable=True),
    sa.Column('created_at', postgresql.TIMESTAMP(timezone=True), server_default=sa.text('clock_timestamp()'), nullable=False),
    sa.Column('due_at', postgresql.TIMESTAMP(timezone=True), server_default=sa.text('clock_timestamp()'), nullable=False),
    sa.Column('sent_at', postgresql.TIMESTAMP(timezone=True), nullable=True),
    sa.ForeignKeyConstraint(['incident_id'], ['incidents.id'], ),
    sa.PrimaryKeyConstraint('id')
    )
    op.create_index('pages_by_incident', 'pages', ['incident_id', 'pager', 'id'], unique=False)
    op.create_index('pages_due', 'pages', ['due_at'], unique=False, postgresql_where=sa.text("state = 'waiting'"))


def downgrade() -> None:
    op.drop_index('incidents_merged', table_name='incidents', postgresql_where=sa.text('merged_into is not null'))
    op.drop_index('pages_due', table_name='pages', postgresql_where=sa.text("state = 'waiting'"))
    op.drop_index('pages_by_incident', table_name='pages')
    op.drop_table('pages')
    op.drop_table('page_decisions')
