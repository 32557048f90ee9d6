import test, { type ExecutionContext } from 'ava'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { createLimiter } from '../../activities/campaigns/campaign-queues.ts'
import { launchChromium } from './chromium.ts'

let browser: Promise<Browser> | null = null
test.after.always('the browser is closed', async () => (await browser)?.close())

/** Pages are drawn by the processor: those of all tests of a file at once would only delay each other. */
const limited = createLimiter(3)
const placed = new WeakSet<ExecutionContext>()

/** A page in a real browser with a profile of its own. */
export async function openBrowser(t: ExecutionContext, options: BrowserContextOptions = {}) {
	if (!placed.has(t)) await takePlace(t)
	const context = await (await (browser ??= launchChromium())).newContext(options)
	t.teardown(() => context.close())
	// The limit only ends what hangs.
	context.setDefaultTimeout(60_000)
	return context.newPage()
}

/** For all pages of a test: if each waited for its own place, tests could wait for each other. */
async function takePlace(t: ExecutionContext) {
	placed.add(t)
	const over = Promise.withResolvers<void>()
	t.teardown(over.resolve)
	await new Promise<void>((begin) => {
		void limited(async () => {
			begin()
			await over.promise
		})
	})
}
