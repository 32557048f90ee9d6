import type { Pool } from 'pg'
import { bool, json, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

const periods = ['twentyFourHour', 'sevenDay', 'allTime'] as const
type Period = (typeof periods)[number]
type Level = 'healthy' | 'warning' | 'critical'

interface Window {
	total: number
	bounces: number
	complaints: number
}

interface Finding {
	signal: 'bounces' | 'complaints'
	period: Period
	is_rate: boolean
	value: number
	warn: number
	suspend: number
	level: Level
}

const readReputation = statement('read-reputation', {
	params: { projectId: uuid },
	row: {
		windows: json<Record<Period, Window>>(),
		findings: json<Finding[]>(),
		publicId: uuid.notNull('a project that is being removed is not asked about'),
		isNewProject: bool,
		isDisabled: bool,
		recentSuspensions: json<{ at: string; reason: string; liftedAt: string | null }[]>(),
	},
	text: `select
		(select json_object_agg(period, json_build_object('total', total, 'bounces', bounces,
			'complaints', complaints)) from reputation_windows($projectId)) as windows,
		(select coalesce(json_agg(f), '[]') from reputation_findings($projectId) f) as findings,
		p.public_id as "publicId", p.created_at > now() - interval '30 days' as "isNewProject",
		p.disabled_reason is not null as "isDisabled",
		(select coalesce(json_agg(json_build_object('at', iso_text(at), 'reason', reason,
				'liftedAt', iso_text(lifted_at)) order by at desc), '[]')
			from (select * from suspensions
				where project_id = $projectId order by at desc limit 10) latest
		) as "recentSuspensions"
	from projects p where p.id = $projectId`,
})

/**
 * A project's figures on the security page, by which it is also suspended. They count mails that were
 * sent, or refused for their address at the hand-over, since the last suspension was lifted.
 */
export async function reputation(pool: Pool, projectId: string) {
	const [found] = await readReputation(pool, { projectId })
	if (!found) throw new Error('There is no such project')
	const { windows, findings, publicId, isNewProject, isDisabled, recentSuspensions } = found
	const sentences = (level: Level) => findings.filter((one) => one.level === level).map(sentence)
	const levelOf = (signal: Finding['signal'], period: Period) =>
		findings.find((one) => one.is_rate && one.signal === signal && one.period === period)!.level
	const violations = sentences('critical')
	const warnings = sentences('warning')
	return {
		status: {
			projectId: publicId,
			isHealthy: violations.length + warnings.length === 0,
			shouldDisable: violations.length > 0,
			twentyFourHour: withRates(windows.twentyFourHour),
			sevenDay: withRates(windows.sevenDay),
			allTime: withRates(windows.allTime),
			isNewProject,
			violations,
			warnings,
		},
		levels: {
			bounce7Day: levelOf('bounces', 'sevenDay'),
			bounceAllTime: levelOf('bounces', 'allTime'),
			complaint7Day: levelOf('complaints', 'sevenDay'),
			complaintAllTime: levelOf('complaints', 'allTime'),
		},
		isDisabled,
		recentSuspensions,
	}
}

const percent = (share: number) => Math.round(share * 1e6) / 1e4

function withRates({ total, bounces, complaints }: Window) {
	const rate = (count: number) => (total === 0 ? 0 : percent(count / total))
	return { total, bounces, complaints, bounceRate: rate(bounces), complaintRate: rate(complaints) }
}

const spans = { twentyFourHour: 'in 24 hours', sevenDay: 'in 7 days', allTime: 'of all time' }

function sentence({ signal, period, is_rate, value, warn, suspend, level }: Finding) {
	const limit = level === 'critical' ? suspend : warn
	const said = (number: number) => (is_rate ? `${percent(number)} %` : String(number))
	const what = { bounces: 'Bounce', complaints: 'Complaint' }[signal]
	const name = is_rate ? `${what} rate ${spans[period]}` : `${what}s ${spans[period]}`
	return `${name}: ${said(value)} (limit ${said(limit)})`
}
