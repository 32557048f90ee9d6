import { useQuery } from '@tanstack/react-query'
import { liveMs } from '../client.ts'
import { useMomentOf } from '../contacts/activity-moment.tsx'
import { Fault } from '../parts/fault.tsx'
import { formatCount } from '../parts/figures.tsx'
import { Section, Soft } from '../parts/page.tsx'
import { Timeline } from '../parts/timeline.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useProject } from '../shell/projects.ts'
import { happeningsOf } from './happenings.ts'

const shown = 12
/** More are read than shown, because many may be about the same. */
const read = 100

/** The newest happenings in the project. */
export function Latest() {
	const { project, api } = useProject()
	const momentOf = useMomentOf()
	const { data, error } = useQuery({
		queryKey: [project.id, 'latest'],
		queryFn: () => api.activity.list({ limit: read }),
		refetchInterval: liveMs.normal,
	})
	const moments = () =>
		happeningsOf(data?.data ?? [])
			.slice(0, shown)
			.map(({ newest, earlier }) => {
				const moment = momentOf(newest)
				const more = `${formatCount(earlier)}${data?.hasMore ? '+' : ''} more`
				return {
					...moment,
					title: (
						<>
							{moment.title}{' '}
							<Soft>
								{newest.contactEmail} {earlier > 0 && `and ${more}`}
							</Soft>
						</>
					),
				}
			})
	return (
		<Section title="Latest">
			{data ? (
				<Timeline as="ago" moments={moments()} />
			) : error ? (
				<Fault error={error} />
			) : (
				<Waiting rows={shown} />
			)}
		</Section>
	)
}
