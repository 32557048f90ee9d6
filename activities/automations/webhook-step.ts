import { ApplicationFailure } from '@temporalio/activity'
import { ApplicationFailureCategory } from '@temporalio/common'
import type { Step } from '../../db/automations/automation-interpreter.ts'
import {
	type ExecutionKey,
	readContact,
	readExecution,
} from '../../db/executions/execution-advancing.ts'
import { callState, finishCall, recordFailedCall } from '../../db/executions/execution-call.ts'
import { maxStoredBytes } from '../../db/executions/step-output.ts'
import {
	type GuardedAnswer,
	guardedRequest,
	type GuardOptions,
} from '../../outside/requests/guarded-request.ts'
import { isTemplateError } from '../../mail/liquid/liquid.ts'
import { linksFor } from '../../mail/liquid/variables.ts'
import { type AdvanceServices, beginJourney } from './advance.ts'
import { variablesOf } from './journey.ts'
import { webhookRequest } from './webhook-request.ts'
import { storable } from './webhook-response.ts'

const tooLarge =
	'The response was not stored, because the outputs of this execution would exceed 1 MB'

export interface WebhookServices extends AdvanceServices {
	settings: AdvanceServices['settings'] & { webhooks: GuardOptions }
}

/**
 * Calls a customer's server for the execution's current step and records the response. At least once: if a
 * worker dies before recording, the next one repeats the call with the same Idempotency-Key. Errors that
 * may pass are thrown, so Temporal retries.
 */
export async function callWebhook(services: WebhookServices, key: ExecutionKey, visit: number) {
	const { pool, settings } = services
	const ids = { projectId: key.projectId, executionId: key.executionId }
	const [contact] = await readContact(pool, ids)
	const [execution] = await readExecution(pool, ids)
	if (!contact || execution?.status !== 'RUNNING' || execution.visit !== visit) return
	if (execution.visitStatus !== 'RUNNING' || execution.isDisabled) return
	const step = execution.definition.steps.find(({ id }) => id === execution.currentStepId)
	if (step?.type !== 'WEBHOOK') return

	const answer = await ask()
	if (!answer) return
	const { now: calledAt, stopBeganAt, visitAttempts } = execution
	// The execution's current stop is this step, which began with its first call.
	const ageMs = visitAttempts === null ? 0 : calledAt.getTime() - stopBeganAt.getTime()
	const leftMs = step.config.retryFor * 1000 - ageMs
	if (mayGoWellLater(answer) && leftMs > 0) {
		const askedMs = answer.kind === 'answered' ? retryAfterMs(answer.retryAfter) : undefined
		const pauseMs = askedMs ?? Math.min(pauseAfter(ageMs), leftMs)
		if (pauseMs <= leftMs) {
			await recordFailedCall(pool, { ...ids, visit, error: errorOf(answer), calledAt })
			throw ApplicationFailure.create({
				message: problemOf(answer)!,
				type: 'WebhookFailed',
				// The customer has to fix this, not the operator.
				category: ApplicationFailureCategory.BENIGN,
				nextRetryDelay: pauseMs,
			})
		}
	}
	await finish(answer, step)

	/** Undefined: the call is no longer needed. */
	async function ask(): Promise<GuardedAnswer | undefined> {
		try {
			const rendered = await request()
			// Rendering may outlast the time of this try, so that another one has made the call.
			const [state] = await callState(pool, { ...ids, visit })
			return state!.isOpen ? await guardedRequest(rendered, settings.webhooks) : undefined
		} catch (error) {
			if (!isTemplateError(error)) throw error
			return { kind: 'refused', error: `A template cannot be read: ${error.message}` }
		}
	}

	/** The outputs that it renders don't stay in memory during the call. */
	async function request() {
		const journey = await beginJourney(pool, key, execution!, contact!)
		const variables = variablesOf(journey, linksFor(settings.publicUrl, contact!.id))
		return webhookRequest(pool, key, visit, step as Step<'WEBHOOK'>, variables)
	}

	async function finish(answer: GuardedAnswer, { config }: Step<'WEBHOOK'>) {
		const problem = problemOf(answer)
		const output = {
			statusCode: answer.kind === 'answered' ? answer.status : null,
			success: problem === null,
			response: answer.kind === 'answered' ? storable(answer.text) : null,
		}
		const shortOutput =
			output.response === null ? output : { ...output, response: null, note: tooLarge }
		const status = problem === null || config.continueOnError ? 'COMPLETED' : 'FAILED'
		await finishCall(pool, {
			...ids,
			visit,
			stepIds: execution!.definition.steps.map(({ id }) => id).filter((id) => id !== step!.id),
			status,
			output,
			shortOutput,
			maxBytes: maxStoredBytes,
			error: errorOf(answer),
		})
	}
}

function problemOf(answer: GuardedAnswer) {
	if (answer.kind !== 'answered') return answer.error
	return answer.status >= 200 && answer.status < 300 ? null : `It answered ${answer.status}`
}

function errorOf(answer: GuardedAnswer) {
	const problem = problemOf(answer)
	return problem === null ? null : `WebhookFailed: ${problem}`
}

const mayGoWellLater = (answer: GuardedAnswer) =>
	answer.kind === 'failed' ||
	(answer.kind === 'answered' && (answer.status === 429 || answer.status >= 500))

/**
 * Grows with the time since the first call, because a dead server may have a hundred thousand executions waiting. An hour
 * has about 35 tries.
 */
const pauseAfter = (ageMs: number) => Math.max(1000, Math.round(ageMs / 4))

/** The header holds seconds or a date. */
function retryAfterMs(header: string | null) {
	if (header === null) return undefined
	const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now()
	return Number.isNaN(ms) ? undefined : Math.max(ms, 1000)
}
