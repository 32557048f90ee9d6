import { useQuery } from '@tanstack/react-query'
import { liveMs } from '../client.ts'
import { useMomentOf } from '../contacts/activity-moment.tsx'
import { Fault } from '../parts/fault.tsx'
import { Section, Soft } from '../parts/page.tsx'
import { Timeline } from '../parts/timeline.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useProject } from '../shell/projects.ts'

const shown = 12

/** The newest happenings in the project. */
export function Latest() {
	const { project, api } = useProject()
	const momentOf = useMomentOf()
	const { data, error } = useQuery({
		queryKey: [project.id, 'latest'],
		queryFn: () => api.activity.list({ limit: shown }),
		refetchInterval: liveMs.normal,
	})
	return (
		<Section title="Latest">
			{data ? (
				<Timeline
					as="ago"
					moments={data.data.map((activity) => {
						const moment = momentOf(activity)
						return {
							...moment,
							title: (
								<>
									{moment.title} <Soft>{activity.contactEmail}</Soft>
								</>
							),
						}
					})}
				/>
			) : error ? (
				<Fault error={error} />
			) : (
				<Waiting rows={shown} />
			)}
		</Section>
	)
}
