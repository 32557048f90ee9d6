import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { configQuery } from '../config.ts'
import { pagesFor } from './pages.ts'
import { useProject } from './projects.ts'
import { chooseTheme, themes } from './theme.ts'

export interface Command {
	name: string
	keys?: string
	/** Of a record. */
	kind?: string
	act: () => void
}

/** Acts and settings that have addresses of their own. */
const beginnings = [
	{ name: 'New contact', path: 'contacts/new' },
	{ name: 'Import contacts', path: 'contacts/import' },
	{ name: 'New segment', path: 'segments/new' },
	{ name: 'New template', path: 'templates/new' },
	{ name: 'New campaign', path: 'campaigns/new' },
	{ name: 'Members', path: 'settings/members' },
	{ name: 'Keys', path: 'settings/keys' },
	{ name: 'Suppressed addresses', path: 'settings/suppressions' },
]

/** Every page, and the commonest acts. */
export function useCommands(): Command[] {
	const { project } = useProject()
	const { data: config } = useQuery(configQuery)
	const navigate = useNavigate()
	return useMemo(
		() => [
			...pagesFor(project, config).flatMap((page) =>
				page
					? [
							{
								name: page.name,
								keys: `g ${page.letter}`,
								act: () => void navigate({ to: `/console/${project.id}/${page.path}` as '/' }),
							},
						]
					: [],
			),
			...beginnings.map(({ name, path }) => ({
				name,
				act: () => void navigate({ to: `/console/${project.id}/${path}` as '/' }),
			})),
			...themes.map((theme) => ({
				name: `Colours: ${theme}`,
				act: () => chooseTheme(theme),
			})),
			{ name: 'New project', act: () => void navigate({ to: '/console/new-project' }) },
			{ name: 'API description', act: () => void window.open('/docs', '_blank', 'noopener') },
		],
		[project, config, navigate],
	)
}

/** Whether all letters appear, in this order. */
export function contains(name: string, letters: string) {
	let from = 0
	for (const letter of letters.toLowerCase().replaceAll(' ', '')) {
		from = name.toLowerCase().indexOf(letter, from) + 1
		if (from === 0) return false
	}
	return true
}
