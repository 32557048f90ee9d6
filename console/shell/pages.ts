import {
	AtSign,
	Filter,
	House,
	LayoutTemplate,
	type LucideIcon,
	Megaphone,
	Users,
} from 'lucide-react'
import { AtSign, Filter, House, type LucideIcon, Users, Workflow } from 'lucide-react'
import { Activity, AtSign, ChartLine, Globe, House, type LucideIcon, Webhook } from 'lucide-react'
import type { Project } from '../../client/index.ts'

export interface PageOfProject {
	name: string
	/** Below the project's address. */
	path: string
	/** `g`, then this letter, leads here. */
	letter: string
	icon: LucideIcon
	role?: Project['role']
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
	null,
	{ name: 'System', path: 'system', letter: 'y', icon: Activity, role: 'OWNER' },
]

export const pagesFor = (project: Project) =>
	pages.filter((page) => page?.role === undefined || page.role === project.role)
