import { useState } from 'react'
import type { Project } from '../../client/index.ts'
import { changesOf } from '../parts/changes-of.ts'
import { useAct } from '../parts/use-act.ts'
import { projectsQuery, useProject } from '../shell/projects.ts'

type Settings = Partial<Pick<Project, 'name' | 'language' | 'tracking' | 'postalAddress'>>

/** The project as it was when its settings were opened or last saved, and the saving of what has changed since. */
export function useSettings(said: string) {
	const { project, api } = useProject()
	const [shown, setShown] = useState(project)
	const { run, error, isBusy } = useAct(projectsQuery.queryKey)
	const save = (given: Settings) =>
		run({
			async act() {
				await api.projects.update(project.id, changesOf(shown, given))
				setShown({ ...shown, ...given })
			},
			said,
		})
	return { shown, save, error, isBusy }
}
