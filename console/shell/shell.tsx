import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi, Outlet, useLocation } from '@tanstack/react-router'
import { Menu as MenuIcon } from 'lucide-react'
import { lazy, Suspense, useEffect, useMemo, useState } from 'react'
import { Unverified } from '../accounts/unverified.tsx'
import { clientOf } from '../client.ts'
import { Disabled } from './disabled.tsx'
import { NotFound } from './not-found.tsx'
import { Navigation } from './navigation.tsx'
import { CurrentProject, projectsQuery, rememberProject } from './projects.ts'
import styles from './shell.module.css'
import { useShortcuts } from './shortcuts.ts'
import { Suspended } from './suspended.tsx'

const route = getRouteApi('/console/$projectId')
const CommandPalette = lazy(() => import('./command-palette.tsx'))

/** What stays while the pages of a project change: the navigation, the shortcuts and the command palette. */
export function Shell() {
	const { projectId } = route.useParams()
	const { data: projects } = useSuspenseQuery(projectsQuery)
	const project = projects.find(({ id }) => id === projectId)
	const api = useMemo(() => clientOf(projectId), [projectId])
	const current = useMemo(() => (project ? { project, api } : null), [project, api])
	const [isSearching, setSearching] = useState(false)
	const { isOpen, setOpen } = useNavigation()
	useShortcuts(projectId, () => setSearching(true))
	useEffect(() => {
		if (project) rememberProject(project.id)
	}, [project])

	if (!current) return <NotFound />
	return (
		<CurrentProject value={current}>
			<a className={styles.skip} href="#main">
				Skip to the page
			</a>
			<div className={styles.shell}>
				<header className={styles.top}>
					<button
						type="button"
						className={styles.menu}
						aria-label="Navigation"
						aria-expanded={isOpen}
						onClick={() => setOpen(!isOpen)}
					>
						<MenuIcon size={20} />
					</button>
					<span>{current.project.name}</span>
				</header>
				<div className={styles.side} data-open={isOpen}>
					<Navigation onSearch={() => setSearching(true)} />
				</div>
				{isOpen && <div className={styles.veil} onClick={() => setOpen(false)} />}
				<main id="main" className={styles.main} tabIndex={-1}>
					<Unverified />
					<Disabled />
					<Suspended>
						<Outlet />
					</Suspended>
				</main>
			</div>
			<Suspense>{isSearching && <CommandPalette onClose={() => setSearching(false)} />}</Suspense>
		</CurrentProject>
	)
}

/** On a phone the navigation lies over the page, until one is chosen. */
function useNavigation() {
	const { pathname } = useLocation()
	const [openAt, setOpenAt] = useState<string | null>(null)
	const isOpen = openAt === pathname
	return { isOpen, setOpen: (open: boolean) => setOpenAt(open ? pathname : null) }
}
