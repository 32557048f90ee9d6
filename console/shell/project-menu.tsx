import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ChevronsUpDown } from 'lucide-react'
import { MenuOnDemand } from '../parts/menu-on-demand.tsx'
import styles from './navigation.module.css'
import { projectsQuery, useProject } from './projects.ts'

export function ProjectMenu() {
	const { project } = useProject()
	const { data: projects = [] } = useQuery(projectsQuery)
	const navigate = useNavigate()
	return (
		<MenuOnDemand
			trigger={
				<button type="button" className={styles.choice}>
					<img src="/console/icon.svg" alt="" />
					<span>{project.name}</span>
					<ChevronsUpDown size={14} aria-label="Choose a project" />
				</button>
			}
			items={[
				...projects.map(({ id, name }) => ({
					name,
					isChosen: id === project.id,
					act: () => void navigate({ to: '/console/$projectId', params: { projectId: id } }),
				})),
				null,
				{ name: 'New project', act: () => void navigate({ to: '/console/new-project' }) },
			]}
		/>
	)
}
