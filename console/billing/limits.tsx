import { useQuery } from '@tanstack/react-query'
import type { BillingCategory, BillingLimits } from '../../client/index.ts'
import { Badge } from '../parts/badge.tsx'
import { changesOf } from '../parts/changes-of.ts'
import { Fault } from '../parts/fault.tsx'
import { TextField } from '../parts/field.tsx'
import { formatCount, formatPercent } from '../parts/figures.tsx'
import { Form, type FormValues } from '../parts/form.tsx'
import { Notice } from '../parts/notice.tsx'
import { useAct } from '../parts/use-act.ts'
import { Waiting } from '../parts/waiting.tsx'
import { useProject } from '../shell/projects.ts'
import { categories, type CategoryName } from './categories.ts'

/** How many mails of each category may be sent in a month. */
export function Limits() {
	const { project, api } = useProject()
	const limits = useQuery({
		queryKey: [project.id, 'billing', 'limits'],
		queryFn: () => api.billing.limits(project.id),
	})
	if (limits.data) return <LimitsForm present={limits.data} />
	return limits.error ? (
		<Fault error={limits.error} retry={() => void limits.refetch()} />
	) : (
		<Waiting rows={6} />
	)
}

function LimitsForm({ present }: { present: BillingLimits }) {
	const { project, api } = useProject()
	const { run, error, isBusy } = useAct([project.id, 'billing'])
	function save(values: FormValues) {
		// Others may have set the rest meanwhile.
		const wanted = changesOf(limitsOf(present), wantedBy(values))
		const reached = categories.filter(({ name }) => {
			const limit = wanted[name] ?? 0
			return limit > 0 && limit <= present[name].usage
		})
		run({
			...(reached.length > 0 && {
				question: {
					title: 'Set limits that are reached already?',
					body: reached.map(({ name, title, atLimit }) => (
						<p key={name}>
							{title}: {formatCount(present[name].usage)} this month. From now on {atLimit}
						</p>
					)),
					act: 'Set the limits',
				},
			}),
			act: () => api.billing.updateLimits(project.id, wanted),
			said: 'The limits are set',
		})
	}
	return (
		<Form act="Set the limits" isBusy={isBusy} error={error} onSubmit={save}>
			<FreeMails present={present} />
			<p>Mails a month. An empty field is no limit. All members are notified at 80 % and 100 %.</p>
			{categories.map(({ name, title, atLimit }) => (
				<TextField
					key={name}
					name={name}
					label={title}
					inputMode="numeric"
					placeholder="No limit"
					defaultValue={present[name].limit ?? ''}
					hint={<Standing {...present[name]} atLimit={atLimit} />}
					error={error}
				/>
			))}
		</Form>
	)
}

const isReached = ({ limit, usage }: BillingCategory) => limit !== null && usage >= limit

/** A category that is blocked below its own limit is blocked by that of the free mails. */
function FreeMails({ present }: { present: BillingLimits }) {
	const all = categories.map(({ name }) => present[name])
	if (all.some((one) => one.isBlocked && !isReached(one)))
		return (
			<Notice tone="bad">
				<p>
					The free mails of this month are used up. No mail is sent until the next month, or until
					the project has a subscription.
				</p>
			</Notice>
		)
	if (all.some(({ limit, isWarning }) => limit === null && isWarning))
		return (
			<Notice tone="warn">
				<p>The free mails of this month are nearly used up.</p>
			</Notice>
		)
	return null
}

function Standing({ atLimit, ...standing }: BillingCategory & { atLimit: string }) {
	const { usage, limit, percentage, isWarning } = standing
	const used = `${formatCount(usage)} this month`
	if (limit === null) return `${used}. At a limit: ${atLimit}`
	return (
		<>
			{used} ({formatPercent(percentage)}). At the limit: {atLimit}{' '}
			{isReached(standing) ? (
				<Badge tone="bad">Reached</Badge>
			) : (
				isWarning && <Badge tone="warn">Nearly reached</Badge>
			)}
		</>
	)
}

type Wanted = Record<CategoryName, number | null>

const limitsOf = ({ transactional, campaigns, workflows, inbound }: BillingLimits): Wanted => ({
	transactional: transactional.limit,
	campaigns: campaigns.limit,
	workflows: workflows.limit,
	inbound: inbound.limit,
})

const wantedBy = (values: FormValues): Wanted => ({
	transactional: limitOf(values.text('transactional')),
	campaigns: limitOf(values.text('campaigns')),
	workflows: limitOf(values.text('workflows')),
	inbound: limitOf(values.text('inbound')),
})

/** The last group has three digits: 1000.00 has decimals. */
const grouped = /^\d{1,3}(?:[\s.,'’]\d{2,3})*[\s.,'’]\d{3}$/

/** The API refuses 0 at its field: something that is no number must not pass for "no limit". */
function limitOf(text: string) {
	if (text === '') return null
	return /^\d+$/.test(text) || grouped.test(text) ? Number(text.replaceAll(/\D/g, '')) : 0
}
