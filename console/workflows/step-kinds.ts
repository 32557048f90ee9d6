import {
	Clock,
	DoorOpen,
	GitBranch,
	Hourglass,
	type LucideIcon,
	Mail,
	UserPen,
	Webhook,
	Zap,
} from 'lucide-react'
import type { StepType } from './graph.ts'

interface Kind {
	name: string
	about: string
	icon: LucideIcon
	/** How to mend a step that has no settings. */
	missing?: string
	/** The settings of a new step. */
	config: Record<string, unknown>
}

export const kinds: Record<StepType, Kind> = {
	TRIGGER: { name: 'Trigger', about: 'Starts the workflow for a contact', icon: Zap, config: {} },
	SEND_EMAIL: {
		name: 'Send email',
		about: 'Sends a template to the contact or to another address',
		icon: Mail,
		missing: 'Choose a template',
		config: {},
	},
	DELAY: {
		name: 'Delay',
		about: 'Waits for a fixed time',
		icon: Clock,
		missing: 'Set how long it waits',
		config: { amount: 1, unit: 'days' },
	},
	WAIT_FOR_EVENT: {
		name: 'Wait for event',
		about: 'Waits until the contact does something, or until time is up',
		icon: Hourglass,
		missing: 'Name the event that it waits for',
		config: {},
	},
	CONDITION: {
		name: 'Condition',
		about: 'Chooses a branch by the data of the contact or the event',
		icon: GitBranch,
		missing: 'Set the condition',
		config: {},
	},
	UPDATE_CONTACT: {
		name: 'Update contact',
		about: 'Changes the data or the subscription of the contact',
		icon: UserPen,
		config: {},
	},
	WEBHOOK: {
		name: 'Call webhook',
		about: 'Calls a URL of yours',
		icon: Webhook,
		missing: 'Set the URL that it calls',
		config: {},
	},
	EXIT: { name: 'Exit', about: 'Ends the workflow for the contact', icon: DoorOpen, config: {} },
}

/** In the order in which they are offered. */
export const addableTypes = [
	'SEND_EMAIL',
	'DELAY',
	'WAIT_FOR_EVENT',
	'CONDITION',
	'UPDATE_CONTACT',
	'WEBHOOK',
	'EXIT',
] as const satisfies StepType[]
