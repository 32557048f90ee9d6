import { Migration } from '@mikro-orm/migrations'

/**
 * Folding begins with a hold on the project's row, which new counts refer to: whoever resets a project, or
 * lifts its suspension, takes that row, then the tallies and the counts, and would meet a folder that
 * comes to the row last. Nobody waits here either, and what is buried is not folded any more.
 */
const holdOf = (lock: string) => `
				if not pg_try_advisory_xact_lock(hashtextextended('${lock} ' || project, 0)) then
					return;
				end if;
				perform from projects where id = project and deleted_at is null for key share skip locked;
				if not found then
					return;
				end if;`

export class Migration20261121184743 extends Migration {
	override name = 'Migration20261121184743'

	override up() {
		this.addSql(`create or replace function fold_usage(project uuid) returns void language plpgsql as $$
			begin ${holdOf('usage of')}
				with gone as (
					delete from usage_tallies where project_id = project and id in (
						select id from usage_tallies where project_id = project order by id limit 2000
						for update skip locked)
					returning *
				)
				insert into usage_counts as c (project_id, month, category, used, sent)
				select project, month, category, sum(used), sum(sent) from gone group by month, category order by 1, 2, 3
				on conflict (project_id, month, category) do update
					set used = c.used + excluded.used, sent = c.sent + excluded.sent;
			end $$`)
		this.addSql(`create or replace function fold_reputation(project uuid) returns void language plpgsql as $$
			declare oldest timestamptz := date_trunc('day', now(), 'UTC') - interval '8 days';
			begin ${holdOf('reputation tallies of')}
				with gone as (
					delete from reputation_tallies where project_id = project and id in (
						select id from reputation_tallies where project_id = project order by id limit 2000
						for update skip locked)
					returning hour, total, bounces, complaints
				)
				insert into reputation_counts as c (project_id, hour, total, bounces, complaints)
				select project, hour, sum(total), sum(bounces), sum(complaints) from gone group by hour order by hour
				on conflict (project_id, hour) do update set total = c.total + excluded.total,
					bounces = c.bounces + excluded.bounces, complaints = c.complaints + excluded.complaints;
				with gone as (
					delete from reputation_counts where project_id = project and hour < oldest
						and hour <> date_trunc('day', hour, 'UTC')
					returning hour, total, bounces, complaints
				)
				insert into reputation_counts as c (project_id, hour, total, bounces, complaints)
				select project, date_trunc('day', hour, 'UTC'), sum(total), sum(bounces), sum(complaints)
				from gone group by 2 order by 2
				on conflict (project_id, hour) do update set total = c.total + excluded.total,
					bounces = c.bounces + excluded.bounces, complaints = c.complaints + excluded.complaints;
			end $$`)
	}
}
