import { Type } from '@fastify/type-provider-typebox'
import type { LimitedCategory } from '../../db/billing/usage-notice.ts'
import type { ProjectOfKey } from '../../db/projects/project-keys.ts'
import type { HealthView } from '../health.ts'
import { Component } from '../schemas.ts'

const codes = [
	'PROJECT_DISABLED',
	'OWNER_UNVERIFIED',
	'TEMPORAL_AWAY',
	'WORKER_AWAY',
	'PROVIDER_AWAY',
	'LIMIT_REACHED',
	'SEND_RATE',
] as const

export const SendingState = Component('SendingState', {
	state: Type.Enum(['normal', 'slowed', 'paused'], {
		description: '`slowed`: some mail waits longer than usual. `paused`: no mail is sent',
	}),
	reasons: Type.Array(
		Type.Object(
			{ code: Type.Enum([...codes]), message: Type.String() },
			{ title: 'SendingReason' },
		),
	),
})

interface Facts {
	project: Pick<ProjectOfKey, 'disabledReason' | 'ownerVerified'>
	health: HealthView
	isMailReal: boolean
	/** The categories of mail whose limit is reached. */
	reached: LimitedCategory[]
	/** Whether mails wait for the send rate. */
	isRateLimited: boolean
}

type Reason = { code: (typeof codes)[number]; message: string }

/** Why mail of a project is not sent at once, the most important reason first. */
export function sendingState(facts: Facts): Type.Static<typeof SendingState> {
	const { project, health, isMailReal, reached, isRateLimited } = facts
	const stops: Reason[] = []
	if (project.disabledReason !== null)
		stops.push({ code: 'PROJECT_DISABLED', message: disabled(project.disabledReason) })
	if (isMailReal && !project.ownerVerified)
		stops.push({
			code: 'OWNER_UNVERIFIED',
			message: "The owner's email address is not verified yet",
		})
	if (health.checks.temporal === 'away')
		stops.push({ code: 'TEMPORAL_AWAY', message: 'Temporal is away. Mail waits until it returns' })
	if (health.checks.worker === 'away')
		stops.push({
			code: 'WORKER_AWAY',
			message: 'No worker is running. Mail waits until one starts',
		})
	if (health.provider !== null)
		stops.push({
			code: 'PROVIDER_AWAY',
			message: `The mail provider ${health.provider.name} takes no mail at present`,
		})
	if (reached.includes('total'))
		stops.push({ code: 'LIMIT_REACHED', message: 'This month’s free mails are used up' })

	const slows: Reason[] = reached
		.filter((category) => category !== 'total')
		.map((category) => ({
			code: 'LIMIT_REACHED',
			message: `This month’s limit for ${category} is reached`,
		}))
	if (isRateLimited)
		slows.push({ code: 'SEND_RATE', message: 'More mail is waiting than the send rate allows' })
	const state = stops.length > 0 ? 'paused' : slows.length > 0 ? 'slowed' : 'normal'
	return { state, reasons: [...stops, ...slows] }
}

const disabled = (reason: string) =>
	reason === 'PAYMENT_FAILED'
		? 'The project is disabled until an open invoice is paid'
		: reason === 'EMAIL_REPUTATION'
			? 'The project is suspended for its bounces or complaints'
			: 'The project was disabled by the operator'
