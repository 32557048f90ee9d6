import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'

const candidates = [
	process.env['CHROMIUM_PATH'],
	'/usr/bin/chromium',
	'/usr/bin/chromium-browser',
	'/usr/bin/google-chrome',
	'/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** A browser without a window, and without requests of its own. Scroll bars take no room unless they are asked for. */
export function launchChromium({ hasScrollBars = false } = {}) {
	const executablePath = candidates.find((path) => path && existsSync(path))
	if (!executablePath)
		throw new Error('No Chromium found: apt-get install chromium, or set CHROMIUM_PATH to its path')
	return chromium.launch({
		executablePath,
		ignoreDefaultArgs: hasScrollBars ? ['--hide-scrollbars'] : [],
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
