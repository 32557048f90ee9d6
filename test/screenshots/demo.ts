import PostalMime from 'postal-mime'
import { until } from '../../bench/load.ts'
import type { Stack } from '../../bench/stack.ts'
import { Project } from '../../db/projects/project.ts'
import { Tempost } from '../../client/index.ts'

const sender = { from: 'hello@example.com', fromName: 'Fernwood' }
const names = ['Ada', 'Ben', 'Chloe', 'Dan', 'Ella', 'Finn', 'Gwen', 'Hugo', 'Iris', 'Jack']
const surnames = ['Adler', 'Brook', 'Costa', 'Dunne', 'Evans', 'Frost', 'Gray', 'Hill']
const plans = ['free', 'pro', 'team']
const countries = ['GB', 'DE', 'FR', 'US', 'ES']

const page = (text: string) => `<!doctype html>
<html>
  <body style="margin:0;background:#f3efe6;font-family:Georgia,serif;color:#2b2a26">
    <div style="max-width:560px;margin:0 auto;padding:32px;background:#fffdf8">
      <p style="letter-spacing:2px;color:#3c6e57">FERNWOOD</p>
      ${text}
    </div>
  </body>
</html>`

const welcome = page(`<h1>Hello {{ name }}</h1>
      <p>Good to have you here. You are on the plan <b>{{ plan }}</b>.</p>
      <p><a href="https://fernwood.example/start">Plant your first seed</a></p>`)
const spring = page(`<h1>The first warm days</h1>
      <p>{{ name }}, eleven seeds can go outside this week.</p>
      {% if plan == "pro" %}<p>As a pro you get <b>20 % off</b> all of them.</p>{% endif %}
      <p><a href="https://fernwood.example/seeds">See the seeds</a></p>`)

/** A project like that of a shop after its first weeks, made through the API. */
export async function fillDemo(stack: Stack, contacts: number) {
	const tempost = new Tempost({
		url: stack.apiUrl,
		secretKey: stack.secretKey,
		publicKey: stack.publicKey,
	})
	await stack.orm.em.fork().nativeUpdate(Project, { id: stack.projectId }, { name: 'Fernwood' })
	await importContacts(tempost, contacts)
	const template = await tempost.templates.create({
		name: 'Welcome',
		subject: 'Welcome, {{ name }}',
		body: welcome,
		type: 'TRANSACTIONAL',
		...sender,
	})
	await tempost.templates.create({
		name: 'Spring news',
		subject: 'The first warm days',
		body: spring,
		type: 'MARKETING',
		...sender,
	})
	const segment = await tempost.segments.create({
		name: 'Pro customers',
		condition: {
			logic: 'AND',
			groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }],
		},
	})
	const campaign = await sendCampaign(tempost, segment.id)
	const workflow = await createWorkflow(tempost, template.id)
	for (const name of names)
		await tempost.track({
			email: `${name.toLowerCase()}@example.org`,
			event: 'signup',
			data: { name },
		})
	for (const name of names.slice(0, 4))
		await tempost.track({ email: `${name.toLowerCase()}@example.org`, event: 'order' })
	await tempost.send({
		to: { email: 'ada@example.org', name: 'Ada' },
		from: { email: 'hello@example.com', name: 'Fernwood' },
		subject: 'Your order 1042 is on its way',
		body: page('<h1>On its way</h1><p>Six seeds and a pot, with you on Thursday.</p>'),
	})
	await tempost.send({
		to: 'ben@example.org',
		from: 'hello@example.com',
		subject: 'Your trial ends tomorrow',
		text: 'See you around.',
		delivery: { at: new Date(Date.now() + 86_400_000).toISOString() },
	})
	await readMails(stack)
	return { campaign, workflow, template, segment }
}

async function importContacts(tempost: Tempost, contacts: number) {
	const rows = Array.from({ length: contacts }, (_, i) => {
		const [name, surname] = [names[i % 10]!, surnames[(i * 3) % 8]!]
		const email = `${name}.${surname}.${i}@example.org`.toLowerCase()
		return [email, name, plans[(i * 7) % 3], countries[(i * 11) % 5], (i * 37) % 100].join(',')
	})
	const csv = `email,name,plan,country,score\n${rows.join('\n')}\n`
	const { jobId } = await tempost.contacts.import({
		file: new File([csv], 'customers.csv', { type: 'text/csv' }),
	})
	await tempost.jobs.wait(jobId)
}

async function sendCampaign(tempost: Tempost, segmentId: string) {
	const campaign = await tempost.campaigns.create({
		name: 'Spring news',
		subject: 'The first warm days, {{ name }}',
		body: spring,
		audienceType: 'SEGMENT',
		segmentId,
		type: 'TRANSACTIONAL',
		...sender,
	})
	await tempost.campaigns.send(campaign.id, {})
	const isSent = async () => (await tempost.campaigns.get(campaign.id)).status === 'SENT'
	if (!(await until(isSent, 60_000))) throw new Error('The campaign is not sent')
	return campaign
}

async function createWorkflow(tempost: Tempost, templateId: string) {
	const workflow = await tempost.workflows.create({ name: 'Onboarding', eventName: 'signup' })
	const add = (step: Parameters<typeof tempost.workflows.createStep>[1]) =>
		tempost.workflows.createStep(workflow.id, step)
	await add({ type: 'SEND_EMAIL', name: 'Welcome', templateId })
	const wait = await add({
		type: 'WAIT_FOR_EVENT',
		name: 'First order',
		config: { eventName: 'order', timeout: 259_200 },
	})
	const reminder = await add({
		type: 'SEND_EMAIL',
		name: 'Reminder',
		templateId,
		autoConnect: false,
	})
	const thanks = await add({
		type: 'UPDATE_CONTACT',
		name: 'Mark as customer',
		config: { data: { customer: true } },
		autoConnect: false,
	})
	const connect = (fromStepId: string, toStepId: string, branch: string) =>
		tempost.workflows.createTransition(workflow.id, { fromStepId, toStepId, branch })
	await connect(wait.id, thanks.id, 'event')
	await connect(wait.id, reminder.id, 'timeout')
	await tempost.workflows.update(workflow.id, { enabled: true })
	return workflow
}

/** A part of the readers open their mails, and some follow a link. */
async function readMails({ apiUrl }: Stack) {
	const { messages } = (await (await fetch(`${apiUrl}/mailbox/messages?limit=100`)).json()) as {
		messages: { id: string }[]
	}
	for (const [place, { id }] of messages.entries()) {
		if (place % 3 === 0) continue
		const raw = await (await fetch(`${apiUrl}/mailbox/messages/${id}/raw`)).text()
		const { html = '' } = await PostalMime.parse(raw)
		const [pixel] = /http[^"]+\/o\/[^"]+/.exec(html) ?? []
		const [link] = /http[^"]+\/c\/[^"]+/.exec(html) ?? []
		if (pixel) await fetch(pixel)
		if (link && place % 4 === 0) await fetch(link, { redirect: 'manual' })
	}
}
