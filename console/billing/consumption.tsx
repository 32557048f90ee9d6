import { useQuery } from '@tanstack/react-query'
import { liveMs } from '../client.ts'
import { Fault } from '../parts/fault.tsx'
import { Figures } from '../parts/figures.tsx'
import { Stack } from '../parts/page.tsx'
import { Time } from '../parts/time.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useProject } from '../shell/projects.ts'
import { categories } from './categories.ts'
import { formatMoney } from './money.ts'

/** The project's usage this month, as limits count it, and what it will cost. */
export function Consumption() {
	const { project, api } = useProject()
	const { data, error, refetch } = useQuery({
		queryKey: [project.id, 'billing', 'consumption'],
		queryFn: () => api.billing.consumption(project.id),
		refetchInterval: liveMs.slow,
	})
	if (!data)
		return error ? <Fault error={error} retry={() => void refetch()} /> : <Waiting rows={3} />
	const { usage, period, upcomingInvoice } = data
	return (
		<Stack>
			<Figures
				figures={[
					{ name: 'All mail', value: usage.total },
					...categories.map(({ name, title }) => ({ name: title, value: usage.byCategory[name] })),
				]}
			/>
			<p>
				The month is a calendar month in UTC, until <Time at={period.end} as="date" /> your time. A
				mail with attachments counts twice. Mail that still waits is included, but only sent mail is
				billed.
			</p>
			{upcomingInvoice && (
				<p>
					The next invoice is {formatMoney(upcomingInvoice.amountDue, upcomingInvoice.currency)} so
					far.
				</p>
			)}
		</Stack>
	)
}
