import { createLazyRoute, Outlet } from '@tanstack/react-router'
import { Page, Stack } from '../parts/page.tsx'
import { LinkTabs } from '../parts/tabs.tsx'
import { mayAct, useProject } from '../shell/projects.ts'

export const page = createLazyRoute('/console/$projectId/settings')({ component: SettingsPage })

/** In the order of the tabs; those with a role are for it and higher ones only. */
const parts = [
	{ name: 'General', path: '' },
	{ name: 'Members', path: '/members' },
	{ name: 'Keys', path: '/keys' },
	{ name: 'Sending', path: '/sending' },
	{ name: 'Suppressions', path: '/suppressions' },
	{ name: 'Reputation', path: '/reputation' },
	{ name: 'Audit log', path: '/audit', role: 'ADMIN' as const },
	{ name: 'Billing and limits', path: '/billing', role: 'ADMIN' as const },
]

function SettingsPage() {
	const { project } = useProject()
	const tabs = parts
		.filter(({ role }) => !role || mayAct(project, role))
		.map(({ name, path }) => ({ name, address: `/console/${project.id}/settings${path}` }))
	return (
		<Page title="Settings">
			<Stack>
				<LinkTabs name="Settings" tabs={tabs} />
				<Outlet />
			</Stack>
		</Page>
	)
}
