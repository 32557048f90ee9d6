import { compileCampaign, type CampaignContent } from '../mail/campaign/campaign-message.ts'
import { attempt, performOnThread } from '../mail/rendering.ts'
import type { Row } from './table.ts'

// The cost of composing a campaign's mail: bare, within the event loop's limits, and on a thread.

const mails = 5000
const rounds = 5
const publicUrl = 'https://mail.example.org'
const paragraph =
	'<p style="margin:0">Hello {{ name }}, <a href="https://example.org/offers?for={{ plan }}">look</a></p>\n'

const bodies = {
	'3 KB': `${paragraph.repeat(4)}${'<p>Plain words of a newsletter.</p>\n'.repeat(75)}`,
	'60 KB': `${paragraph.repeat(20)}${'<p>Plain words of a newsletter.</p>\n'.repeat(1650)}`,
}

const id = (n: number) => `01a203c0-8bf1-7748-b96c-${String(n).padStart(12, '0')}`

const contentOf = (body: string, number: number): CampaignContent => ({
	campaignId: id(number),
	projectId: id(0),
	subject: 'Hello {{ name }}',
	body,
	from: { email: 'news@example.org', name: 'News' },
	replyTo: null,
	postalAddress: null,
	type: 'MARKETING',
	contentLanguage: 'en',
	language: 'en',
	trackingKey: Buffer.alloc(32, 1),
})

const recipientOf = (n: number) => ({
	emailId: id(n),
	contactId: id(n),
	to: `user${n}@example.net`,
	createdAt: new Date(0),
	email: `user${n}@example.net`,
	subscribed: true,
	data: { name: `Ann ${n}`, plan: 'pro' },
})

export async function bench(): Promise<Row[]> {
	const rows: Row[] = []
	for (const [index, [size, body]] of Object.entries(bodies).entries()) {
		const content = contentOf(body, index)
		const campaign = compileCampaign(content, publicUrl)
		const input = (n: number) => ({ content, publicUrl, recipient: recipientOf(n) })
		const ways = {
			bare: async (n: number) => campaign.wire(recipientOf(n)),
			loop: (n: number) => attempt('campaignWire', input(n)),
			thread: (n: number) => performOnThread(content.projectId, 'campaignWire', input(n)),
		}
		const us = { bare: [] as number[], loop: [] as number[], thread: [] as number[] }
		for (let round = 0; round <= rounds; round++)
			for (const [way, compose] of Object.entries(ways) as [keyof typeof us, typeof ways.bare][]) {
				const cost = await costOf(compose)
				if (round > 0) us[way].push(cost) // the first one warms up
			}
		const [bare, loop, thread] = [us.bare, us.loop, us.thread].map(median) as [
			number,
			number,
			number,
		]
		const floor = `${bare.toFixed(0)} us CPU/mail (bare)`
		rows.push({
			what: `a mail of ${size} on the event loop, within its limits`,
			reached: `${loop.toFixed(0)} us CPU/mail`,
			target: '<= 1.3 x bare',
			floor,
			isMet: loop <= 1.3 * bare,
		})
		rows.push({
			what: `a mail of ${size} on a thread`,
			reached: `${thread.toFixed(0)} us CPU/mail`,
			target: '<= bare + 300 us',
			floor,
			isMet: thread <= bare + 300,
		})
	}
	return rows
}

/** Of the whole process, threads included. */
async function costOf(compose: (n: number) => Promise<unknown>) {
	const before = process.cpuUsage()
	for (let n = 0; n < mails; n += 20)
		await Promise.all(Array.from({ length: 20 }, (_, i) => compose(n + i)))
	const { user, system } = process.cpuUsage(before)
	return (user + system) / mails
}

const median = (values: number[]) =>
	values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
