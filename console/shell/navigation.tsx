import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { configQuery } from '../config.ts'
import { AccountMenu } from './account-menu.tsx'
import styles from './navigation.module.css'
import { pagesFor } from './pages.ts'
import { ProjectMenu } from './project-menu.tsx'
import { useProject } from './projects.ts'

export function Navigation({ onSearch }: { onSearch: () => void }) {
	const { project } = useProject()
	const { data: config } = useQuery(configQuery)
	return (
		<nav className={styles.nav} aria-label="Pages">
			<ProjectMenu />
			<button type="button" className={styles.search} onClick={onSearch}>
				<Search size={15} aria-hidden />
				<span>Go to or do</span>
				<kbd>Ctrl K</kbd>
			</button>
			<ul className={styles.pages}>
				{pagesFor(project, config).map((page, index) =>
					page === null ? (
						// The lines stay where they are.
						<li key={`line ${index}`} className={styles.line} aria-hidden />
					) : (
						<li key={page.name}>
							<Link
								to={`/console/${project.id}/${page.path}` as '/'}
								activeOptions={{ exact: page.path === '', includeSearch: false }}
								className={styles.page}
								title={`g, then ${page.letter}`}
							>
								<page.icon size={16} aria-hidden />
								{page.name}
							</Link>
						</li>
					),
				)}
			</ul>
			<AccountMenu />
		</nav>
	)
}
