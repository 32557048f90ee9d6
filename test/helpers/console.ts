import type { ExecutionContext } from 'ava'
import axe from 'axe-core'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { buildFolder } from '../../build/freshness.ts'
import { root } from '../../build/root.ts'
import type { Role } from '../../db/accounts/session.ts'
import { holdPort } from '../../local/ports.ts'
import { setup } from './app.ts'
import { openBrowser } from './browser.ts'
import { addMember, createUser } from './people.ts'

export const desktop = { width: 1280, height: 900 }
export const phone = { width: 390, height: 844 }

let building: Promise<unknown> | undefined

/** The folder of the console, built from the present sources. */
export async function builtConsole() {
	const folder = join(buildFolder(), 'console')
	if (!existsSync(folder))
		await (building ??= promisify(execFile)(process.execPath, ['build/main.ts'], { cwd: root }))
	return folder
}

interface Options {
	role?: Role
	browser?: BrowserContextOptions
	setup?: Parameters<typeof setup>[1]
}

/** The console in a real browser, with a person who is logged in to one project. */
export async function setupConsole(t: ExecutionContext, options: Options = {}) {
	// Its address is needed long before it listens.
	const { port, release } = await holdPort()
	t.teardown(release)
	const origin = `http://localhost:${port}`
	const all = await setup(t, {
		...options.setup,
		settings: { publicUrl: origin, ...options.setup?.settings },
		services: { consoleFolder: await builtConsole(), ...options.setup?.services },
	})
	const { user, headers } = await createUser(all.app, all.orm, 'ann@example.org')
	await addMember(all.orm, all.project, user, options.role ?? 'OWNER')
	await release()
	await all.app.listen({ port, host: '127.0.0.1' })
	const page = await openBrowser(t, { viewport: desktop, ...options.browser })
	const [name, value] = headers.cookie.split('=') as [string, string]
	await page.context().addCookies([{ name, value, url: origin }])
	const faults = faultsOf(page)
	const home = `${origin}/console/${all.project.id}`
	return {
		...all,
		origin,
		home,
		page,
		faults,
		/** Opens a page of the project, and waits for its heading. */
		async open(path: string, heading?: string | RegExp) {
			await page.goto(path === '' ? home : `${home}/${path}`)
			await page.getByRole('heading', { level: 1, ...(heading && { name: heading }) }).waitFor()
		},
	}
}

/**
 * Lets the page be left, as if its person had agreed to the browser's question, and returns whether there would have
 * been one. A slow page may put its question when the browser has stopped to wait for it.
 */
export const asksBeforeUnload = (page: Page) =>
	page.evaluate<boolean>(`(() => {
		const asks = !dispatchEvent(new Event('beforeunload', { cancelable: true }))
		addEventListener('beforeunload', (event) => event.stopImmediatePropagation(), { capture: true })
		return asks
	})()`)

/** Errors in the page, its console, its policy: none is allowed. */
export function faultsOf(page: Page) {
	const faults: string[] = []
	page.on('pageerror', ({ message }) => faults.push(message))
	page.on('console', (line) => line.type() === 'error' && faults.push(line.text()))
	return faults
}

/**
 * What axe finds in the page. It lists the elements once and judges them over several turns of the
 * event loop: if some come or go in between, it fails, or judges a page that never was. So a page
 * that changed meanwhile is examined again.
 */
async function examined(page: Page) {
	// Past the page's policy, which allows no foreign scripts.
	await page.evaluate(axe.source)
	for (let round = 0; round < 20; round++) {
		const results = (await page.evaluate(`(async () => {
			let changed = false
			const changes = new MutationObserver(() => (changed = true))
			changes.observe(document, { childList: true, subtree: true })
			try {
				const results = await axe.run()
				return changed ? undefined : results
			} catch (error) {
				if (!changed) throw error
			} finally {
				changes.disconnect()
			}
		})()`)) as axe.AxeResults | undefined
		if (results) return results
	}
	throw new Error(`${page.url()} does not come to rest`)
}

/** What axe finds serious, in words. */
export async function barriersOf(page: Page) {
	const { violations } = await examined(page)
	return violations
		.filter(({ impact }) => impact === 'serious' || impact === 'critical')
		.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' ')}`)
}
