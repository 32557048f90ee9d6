import type { ExecutionContext } from 'ava'
import { resendProvider } from '../../outside/providers/resend.ts'
import { campaignWorker } from './campaign-worker.ts'
import { openCampaigns } from './campaigns.ts'
import { resendFake, type ResendFault } from './resend-fake.ts'
import { setupSmtp, type SmtpSetup } from './smtp.ts'

const body =
	'<p>Hello {{ name }}, <a href="https://example.com/">look</a> or <a href="{{ unsubscribeUrl }}">leave</a></p>'

/** A campaign to some people that is being sent. */
export async function sendingCampaign(t: ExecutionContext, people: number, changes: object = {}) {
	const context = await openCampaigns(t)
	await context.contacts(people, { data: { name: 'Ann' } })
	const id = await context.frozen({ body, ...changes })
	const send = (worker: ReturnType<typeof campaignWorker>, lane = 0) =>
		worker.send(context.project.id, id, lane)
	const mails = () =>
		context.query<{
			id: string
			to: string
			status: string
			attempt: number
			error: string | null
			subject: string
			provider_message_id: string | null
		}>(
			`select id, "to", status, attempt, error, subject, provider_message_id from emails
			where campaign_id = $1 order by contact_id`,
			[id],
		)
	const events = () =>
		context.query<{ data: { emailId: string; subject: string } }>(
			`select event_data(name, data, project_id, email_id) as data from (
				select name, data, project_id, email_id from events where name = 'email.sent'
				union all
				select name, data, project_id, email_id from sent_mails($1, '-infinity', 'infinity')) sent`,
			[context.project.id],
		)
	return { ...context, id, send, mails, events }
}

export async function overSmtp(t: ExecutionContext, people: number, options: SmtpSetup = {}) {
	const context = await sendingCampaign(t, people)
	const { sink, provider } = await setupSmtp(t, options)
	return { ...context, sink, provider, worker: campaignWorker(context.pool, provider) }
}

export async function overResend(t: ExecutionContext, people: number, faults: ResendFault[] = []) {
	const context = await sendingCampaign(t, people)
	const fake = await resendFake()
	fake.faults.push(...faults)
	const provider = resendProvider({ apiKey: fake.apiKey, baseUrl: fake.url })
	t.teardown(async () => {
		await provider.close()
		await fake.close()
	})
	return { ...context, fake, provider, worker: campaignWorker(context.pool, provider) }
}
