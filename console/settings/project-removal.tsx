import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Row, Section, Stack } from '../parts/page.tsx'
import { useAct } from '../parts/use-act.ts'
import { mayAct, projectsQuery, useProject } from '../shell/projects.ts'
import { forgetFreshKey } from '../start/fresh-keys.ts'
import { RemovalDialog } from './removal-dialog.tsx'

/** Emptying a project and deleting it: both are for ever. */
export function ProjectRemoval() {
	const { project } = useProject()
	const [asked, setAsked] = useState<'reset' | 'delete' | null>(null)
	const reset = useReset(() => setAsked(null))
	const remove = useRemove()
	return (
		<Section title="Reset or delete">
			<Stack>
				<Row>
					<p>A reset deletes all data. The project, its domains, members and keys stay.</p>
					<Button kind="danger" onClick={() => setAsked('reset')}>
						Reset the project…
					</Button>
				</Row>
				{mayAct(project, 'OWNER') && (
					<Row>
						<p>Deleting the project also ends its keys and its subscription.</p>
						<Button kind="danger" onClick={() => setAsked('delete')}>
							Delete the project…
						</Button>
					</Row>
				)}
			</Stack>
			<RemovalDialog
				title={`Reset ${project.name}?`}
				act="Delete all data"
				isOpen={asked === 'reset'}
				onClose={() => setAsked(null)}
				{...reset}
			>
				<p>
					Domains, members, invitations, keys, settings, the audit log, the reputation and the usage
					stay. Running campaigns and workflows end.
				</p>
			</RemovalDialog>
			<RemovalDialog
				title={`Delete ${project.name}?`}
				act="Delete the project"
				isOpen={asked === 'delete'}
				onClose={() => setAsked(null)}
				{...remove}
			>
				<p>
					Its domains are deleted as well. Its keys stop working at once, all members lose access,
					and a subscription ends.
				</p>
			</RemovalDialog>
		</Section>
	)
}

function useReset(close: () => void) {
	const { project, api } = useProject()
	const { run, error, isBusy } = useAct([project.id], projectsQuery.queryKey)
	return {
		error,
		isBusy,
		onAct: () =>
			run({
				act: async () => {
					await api.projects.reset(project.id)
					close()
				},
				said: 'The project is empty',
			}),
	}
}

function useRemove() {
	const { project, api } = useProject()
	const queries = useQueryClient()
	const navigate = useNavigate()
	const { run, error, isBusy } = useAct(projectsQuery.queryKey)
	async function remove() {
		await api.projects.delete(project.id)
		forgetFreshKey(project.id)
		const others = queries
			.getQueryData(projectsQuery.queryKey)
			?.filter(({ id }) => id !== project.id)
		const next = others?.[0]
		await (next
			? navigate({ to: '/console/$projectId', params: { projectId: next.id } })
			: navigate({ to: '/console/new-project' }))
		queries.removeQueries({ queryKey: [project.id] })
	}
	return { error, isBusy, onAct: () => run({ act: remove, said: `${project.name} is deleted` }) }
}
