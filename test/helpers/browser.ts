import test, { type ExecutionContext } from 'ava'
import { existsSync } from 'node:fs'
import { type Browser, type BrowserContextOptions, chromium } from 'playwright-core'

const candidates = [
	process.env['CHROMIUM'],
	'/usr/bin/chromium',
	'/usr/bin/chromium-browser',
	'/usr/bin/google-chrome',
	'/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

let browser: Promise<Browser> | null = null
test.after.always('the browser is closed', async () => (await browser)?.close())

/** A page in a real browser with a profile of its own. */
export async function openBrowser(t: ExecutionContext, options: BrowserContextOptions = {}) {
	const context = await (await (browser ??= launch())).newContext(options)
	t.teardown(() => context.close())
	return context.newPage()
}

function launch() {
	const executablePath = candidates.find((path) => path && existsSync(path))
	if (!executablePath)
		throw new Error('No Chromium found: apt-get install chromium, or set CHROMIUM to its path')
	return chromium.launch({
		executablePath,
		args: [
			'--no-sandbox',
			'--disable-gpu',
			'--disable-quic',
			'--no-first-run',
			'--disable-background-networking',
			'--disable-component-update',
			'--disable-sync',
		],
	})
}
