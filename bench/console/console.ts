import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { root } from '../../build/root.ts'
import { poolOf } from '../../db/statement.ts'
import type { Servers } from '../../local/servers.ts'
import { launchChromium } from '../../test/helpers/chromium.ts'
import { splitIntoMonths } from '../../test/helpers/months.ts'
import { seedContacts } from '../audience/audience-seed.ts'
import { runCampaign, seedRecipients } from '../campaign/campaign-run.ts'
import { seedOlderMails } from '../ledger/ledger-seed.ts'
import { type SinkProcess, startSink } from '../sink.ts'
import { prepareStack, type Stack } from '../stack.ts'
import type { Row } from '../table.ts'
import { coldLoads } from './console-load.ts'
import { createPerson, type Visit } from './console-person.ts'
import { views } from './console-views.ts'

/**
 * npm run bench console [contacts] [mails]: the console in a real browser, beside the mails of a year. The promises are
 * for 1,000,000 contacts and 10,000,000 mails.
 */
const contacts = Number(process.argv[3] ?? 1_000_000)
const mails = Number(process.argv[4] ?? 10_000_000)
const recipients = 20_000

export async function bench(servers: Servers): Promise<Row[]> {
	await promisify(execFile)(process.execPath, ['build/main.ts'], { cwd: root })
	const sink = await startSink()
	const stack = await prepareStack(servers, { EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url })
	const browser = await launchChromium()
	try {
		await splitIntoMonths(await poolOf(stack.orm.em))
		await stack.api.start()
		await stack.worker.start()
		await seed(servers, stack, sink)
		const visit: Visit = { stack, browser, cookie: await createPerson(stack) }
		return [...(await coldLoads(visit)), ...(await views(visit))]
	} finally {
		await browser.close()
		await stack.stop()
		await sink.close()
	}
}

async function seed(servers: Servers, stack: Stack, sink: SinkProcess) {
	await seedRecipients(stack, recipients)
	await runCampaign(stack, sink, servers.temporalAddress, recipients)
	await seedOlderMails(await poolOf(stack.orm.em), mails, recipients)
	await seedContacts(stack, 1, contacts - recipients)
}
