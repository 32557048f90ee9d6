// Makes the pictures of the console in the README: npm run screenshots. With a folder, every page goes there, in light,
// in dark and as a phone shows it.
import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { addressOf, createPerson, originOf } from '../../bench/console/console-person.ts'
import { prepareStack, type Stack } from '../../bench/stack.ts'
import { root } from '../../build/root.ts'
import { pages } from '../../console/shell/pages.ts'
import { withServers } from '../../local/servers.ts'
import { launchChromium } from '../helpers/chromium.ts'
import { fillDemo } from './demo.ts'

const folder = process.argv[2]
const contacts = 1000
const desktop = { viewport: { width: 1280, height: 800 } }
const looks: Record<string, BrowserContextOptions> = {
	light: desktop,
	dark: { ...desktop, colorScheme: 'dark' },
	phone: { viewport: { width: 390, height: 844 } },
}

interface Picture {
	name: string
	path: string
}

await withServers(async (servers) => {
	await promisify(execFile)(process.execPath, ['build/main.ts'], { cwd: root })
	const stack = await prepareStack(servers, { EMAIL_PROVIDER: 'local' })
	const browser = await launchChromium()
	try {
		await Promise.all([stack.api.start(), stack.worker.start()])
		const demo = await fillDemo(stack, contacts)
		const cookie = await createPerson(stack)
		const shoot = (look: string, pictures: Picture[], into: string) =>
			shootAll(browser, stack, { look, cookie, pictures, into })
		if (folder) {
			const all = [...ofNavigation(), ...ofRecords(demo)]
			for (const look of Object.keys(looks)) await shoot(look, all, folder)
		} else {
			const images = join(root, 'docs/images')
			await shoot('light', [{ name: 'emails', path: 'emails' }], images)
			await shoot('light', [{ name: 'workflow', path: `workflows/${demo.workflow.id}` }], images)
			await shoot('dark', [{ name: 'campaign', path: `campaigns/${demo.campaign.id}` }], images)
		}
	} finally {
		await browser.close()
		await stack.stop()
	}
})

function ofNavigation(): Picture[] {
	return pages.flatMap((page) => (page ? [{ name: page.name.toLowerCase(), path: page.path }] : []))
}

function ofRecords(demo: Awaited<ReturnType<typeof fillDemo>>): Picture[] {
	return [
		{ name: 'template', path: `templates/${demo.template.id}` },
		{ name: 'campaign', path: `campaigns/${demo.campaign.id}` },
		{ name: 'workflow', path: `workflows/${demo.workflow.id}` },
		{ name: 'segment', path: `segments/${demo.segment.id}` },
	]
}

async function shootAll(
	browser: Browser,
	stack: Stack,
	shots: {
		look: string
		cookie: { name: string; value: string }
		pictures: Picture[]
		into: string
	},
) {
	const { look, cookie, pictures, into } = shots
	mkdirSync(into, { recursive: true })
	const context = await browser.newContext({ ...looks[look], locale: 'en-GB' })
	await context.addCookies([{ ...cookie, url: originOf(stack) }])
	const page = await context.newPage()
	for (const { name, path } of pictures) {
		await page.goto(addressOf(stack, path))
		await page.getByRole('heading', { level: 1 }).waitFor()
		await page.waitForLoadState('networkidle')
		const suffix = folder ? `-${look}` : ''
		await page.screenshot({ path: join(into, `${name}${suffix}.png`) })
	}
	await context.close()
}
