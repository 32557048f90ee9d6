import { useQuery } from '@tanstack/react-query'
import type { Activity } from '../../client/index.ts'
import { liveMs } from '../client.ts'
import { activityTypes, useMomentOf } from '../contacts/activity-moment.tsx'
import { Fault } from '../parts/fault.tsx'
import { formatCount } from '../parts/figures.tsx'
import { Section, Soft } from '../parts/page.tsx'
import { Timeline } from '../parts/timeline.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useProject } from '../shell/projects.ts'
import { type Happening, happeningsOf } from './happenings.ts'

const shown = 12
/** More are read than shown, because many may be about the same. */
const read = 100
/** Each is read by itself, because a campaign or a segment has so many that nothing else would be read. */
const frequent: Activity['type'][][] = [
	['email.sent', 'email.delivered', 'email.opened', 'email.clicked'],
	['event.triggered'],
]
const others = activityTypes.filter((type) => !frequent.flat().includes(type))

/** The newest happenings in the project. */
export function Latest() {
	const { project, api } = useProject()
	const momentOf = useMomentOf()
	const { data, error } = useQuery({
		queryKey: [project.id, 'latest'],
		queryFn: () =>
			Promise.all([...frequent, others].map((types) => api.activity.list({ types, limit: read }))),
		refetchInterval: liveMs.normal,
	})
	const asMoment = ({ newest, earlier, isCut }: Happening) => {
		const moment = momentOf(newest)
		const more = `${formatCount(earlier)}${isCut ? '+' : ''} more`
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
	}
	return (
		<Section title="Latest">
			{data ? (
				<Timeline as="ago" moments={happeningsOf(data).slice(0, shown).map(asMoment)} />
			) : error ? (
				<Fault error={error} />
			) : (
				<Waiting rows={shown} />
			)}
		</Section>
	)
}
