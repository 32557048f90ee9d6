import test, { type ExecutionContext } from 'ava'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { createLimiter } from '../../activities/campaigns/campaign-queues.ts'
import { launchChromium } from './chromium.ts'

let browser: Promise<Browser> | null = null
test.after.always('the browser is closed', async () => (await browser)?.close())

/** Pages are drawn by the processor: all those of a file at once would only delay each other. */
const limited = createLimiter(3)

/** A page in a real browser with a profile of its own. */
export async function openBrowser(t: ExecutionContext, options: BrowserContextOptions = {}) {
	const over = Promise.withResolvers<void>()
	t.teardown(over.resolve)
	await new Promise<void>((begin) => {
		void limited(async () => {
			begin()
			await over.promise
		})
	})
	const context = await (await (browser ??= launchChromium())).newContext(options)
	t.teardown(() => context.close())
	// The limit only ends what hangs.
	context.setDefaultTimeout(60_000)
	return context.newPage()
}
