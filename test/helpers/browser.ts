import test, { type ExecutionContext } from 'ava'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { launchChromium } from './chromium.ts'

let browser: Promise<Browser> | null = null
test.after.always('the browser is closed', async () => (await browser)?.close())

/** A page in a real browser with a profile of its own. */
export async function openBrowser(t: ExecutionContext, options: BrowserContextOptions = {}) {
	const context = await (await (browser ??= launchChromium())).newContext(options)
	t.teardown(() => context.close())
	// The limit only ends what hangs: on a busy machine a dozen pages are drawn at once.
	context.setDefaultTimeout(60_000)
	return context.newPage()
}
