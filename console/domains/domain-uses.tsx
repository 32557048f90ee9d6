import { Link } from '@tanstack/react-router'
import { TempostError } from '../../client/index.ts'
import { Fault } from '../parts/fault.tsx'
import { Stack } from '../parts/page.tsx'
import { isUse, type Use } from '../segments/uses.tsx'
import { useProject } from '../shell/projects.ts'

/** Why a domain was not deleted, with links to all that sends from it. */
export function DeletionFault({ error }: { error: unknown }) {
	const { project } = useProject()
	const uses = (['templates', 'campaigns'] as const).flatMap((noun) =>
		usesOf(error, noun).map((use) => ({ ...use, noun })),
	)
	return (
		<Stack>
			<Fault error={error} />
			{uses.length > 0 && (
				<ul aria-label="Senders at this domain">
					{uses.map(({ id, name, noun }) => (
						<li key={id}>
							{noun === 'templates' ? 'Template' : 'Campaign'}{' '}
							<Link to={`/console/${project.id}/${noun}/${id}` as '/'}>{name}</Link>
						</li>
					))}
				</ul>
			)}
		</Stack>
	)
}

function usesOf(error: unknown, noun: string): Use[] {
	const listed = error instanceof TempostError ? error.details[noun] : undefined
	return Array.isArray(listed) ? listed.filter(isUse) : []
}
