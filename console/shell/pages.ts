import {
	Activity,
	AtSign,
	ChartLine,
	Filter,
	Globe,
	House,
	Inbox,
	LayoutTemplate,
	type LucideIcon,
	Megaphone,
	Settings,
	Users,
	Webhook,
	Workflow,
} from 'lucide-react'
import type { Project, ServiceConfig } from '../../client/index.ts'

export interface PageOfProject {
	name: string
	/** Below the project's address. */
	path: string
	/** `g`, then this letter, leads here. */
	letter: string
	icon: LucideIcon
	role?: Project['role']
	/** A feature of the installation without which the page has nothing to show. */
	feature?: 'mailbox'
}

/** In the order of the navigation; null is a line. */
export const pages: (PageOfProject | null)[] = [
	{ name: 'Start', path: '', letter: 'h', icon: House },
	{ name: 'Emails', path: 'emails', letter: 'e', icon: AtSign },
	{ name: 'Contacts', path: 'contacts', letter: 'c', icon: Users },
	{ name: 'Segments', path: 'segments', letter: 's', icon: Filter },
	{ name: 'Templates', path: 'templates', letter: 't', icon: LayoutTemplate },
	{ name: 'Campaigns', path: 'campaigns', letter: 'm', icon: Megaphone },
	{ name: 'Workflows', path: 'workflows', letter: 'w', icon: Workflow },
	null,
	{ name: 'Analytics', path: 'analytics', letter: 'a', icon: ChartLine },
	{ name: 'Domains', path: 'domains', letter: 'd', icon: Globe },
	{ name: 'Webhooks', path: 'webhooks', letter: 'b', icon: Webhook },
	{ name: 'Mailbox', path: 'mailbox', letter: 'x', icon: Inbox, feature: 'mailbox' },
	null,
	{ name: 'Settings', path: 'settings', letter: 'p', icon: Settings },
	{ name: 'System', path: 'system', letter: 'y', icon: Activity, role: 'OWNER' },
]

/** Until the installation has said what it offers, its optional pages are left out. */
export const pagesFor = (project: Project, config: ServiceConfig | undefined) =>
	pages.filter(
		(page) =>
			page === null ||
			((page.role === undefined || page.role === project.role) &&
				(page.feature === undefined || config?.features[page.feature].enabled === true)),
	)
