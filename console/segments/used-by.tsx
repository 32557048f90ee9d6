import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Fragment } from 'react'
import { liveMs } from '../client.ts'
import { formatCount } from '../parts/figures.tsx'
import { Soft } from '../parts/page.tsx'
import { useProject } from '../shell/projects.ts'

const mostShown = 20

/** The campaigns, workflows and other segments that a segment can't be deleted under. */
export function UsedBy({ segmentId }: { segmentId: string }) {
	const { project, api } = useProject()
	const { data, error } = useQuery({
		queryKey: [project.id, 'segments', segmentId, 'usage'],
		queryFn: () => api.segments.usage(segmentId),
		refetchInterval: liveMs.slow,
	})
	if (!data) return error ? error.message : '…'
	const uses = [
		...data.campaigns.map((use) => ({ ...use, noun: 'campaign' })),
		...data.workflows.map((use) => ({ ...use, noun: 'workflow' })),
		...data.segments.map((use) => ({ ...use, noun: 'segment' })),
	]
	if (uses.length === 0) return 'Nothing'
	return (
		<>
			{uses.slice(0, mostShown).map(({ id, name, noun }, place) => (
				<Fragment key={id}>
					{place > 0 && ', '}
					<Soft>{noun}</Soft>{' '}
					<Link to={`/console/${project.id}/${noun}s/${id}` as '/'}>{name}</Link>
				</Fragment>
			))}
			{uses.length > mostShown && ` and ${formatCount(uses.length - mostShown)} more`}
		</>
	)
}
