import { useQuery } from '@tanstack/react-query'
import { countedUpToMost, mostCounted } from '../parts/counted.ts'
import { formatCount } from '../parts/figures.tsx'
import { useProject } from '../shell/projects.ts'
import { webhooksKey } from './webhook-queries.ts'

interface Props {
	endpointId: string
	/** Local times. */
	from: string
	to: string
	only: 'failed' | 'all'
}

const given = { failed: ['FAILED', 'HELD'] as const, all: [undefined] as const }

/** How many deliveries a replay would make. */
export function ReplayCount({ endpointId, from, to, only }: Props) {
	const current = useProject()
	const isPeriod = from !== '' && to !== '' && from <= to
	const { data } = useQuery({
		queryKey: [...webhooksKey(current), endpointId, 'count', from, to, only],
		queryFn: async () => {
			const period = { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
			const totals = await Promise.all(
				given[only].map(async (status) => {
					const { webhookEndpoints } = current.api
					const found = await webhookEndpoints.listDeliveries(endpointId, {
						...period,
						status,
						limit: 1,
					})
					return found.total
				}),
			)
			return Math.max(...totals) >= mostCounted
				? countedUpToMost(mostCounted)
				: formatCount(totals.reduce((sum, total) => sum + total, 0))
		},
		enabled: isPeriod,
		placeholderData: (previous) => previous,
	})
	return (
		<p role="status">
			Deliveries of this period: <strong>{isPeriod ? (data ?? '…') : '–'}</strong>
		</p>
	)
}
