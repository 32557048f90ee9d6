import { queryOptions } from '@tanstack/react-query'
import type { Current } from '../shell/projects.ts'

/** The fields that contacts of the project have, for every page that names them. */
export const fieldsQuery = ({ project, api }: Current) =>
	queryOptions({
		queryKey: [project.id, 'contacts', 'fields'],
		queryFn: () => api.contacts.listFields(),
		staleTime: 60_000,
	})
