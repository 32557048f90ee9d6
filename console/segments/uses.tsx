import { Link } from '@tanstack/react-router'
import { Section } from '../parts/page.tsx'
import { useProject } from '../shell/projects.ts'

export interface Use {
	id: string
	name: string
}

const kinds = [
	{ kind: 'campaigns', title: 'Campaigns' },
	{ kind: 'workflows', title: 'Workflows' },
	{ kind: 'segments', title: 'Segments' },
] as const
type UsesOf = Partial<Record<(typeof kinds)[number]['kind'], Use[]>>

/** The uses that the API names when it refuses to delete a segment. */
export function usesIn({ usedBy }: Record<string, unknown>): UsesOf | undefined {
	if (typeof usedBy !== 'object' || usedBy === null) return undefined
	return Object.fromEntries(
		Object.entries(usedBy).map(([kind, list]) => [
			kind,
			Array.isArray(list) ? list.filter(isUse) : [],
		]),
	)
}

export const isUse = (given: unknown): given is Use =>
	typeof given === 'object' && given !== null && 'id' in given && 'name' in given

/** The uses of a segment or a field, with links. */
export function Uses({ uses }: { uses: UsesOf }) {
	const { project } = useProject()
	return kinds.map(({ kind, title }) => {
		const found = uses[kind] ?? []
		return (
			found.length > 0 && (
				<Section key={kind} title={title}>
					<ul>
						{found.map(({ id, name }) => (
							<li key={id}>
								<Link to={`/console/${project.id}/${kind}/${id}` as '/'}>{name}</Link>
							</li>
						))}
					</ul>
				</Section>
			)
		)
	})
}
