import test, { type ExecutionContext } from 'ava'
import { readSlice } from '../activities/imports/import-slice.ts'
import { readHead } from '../console/contacts/csv-head.ts'
import { barriersOf, phone, setupConsole } from './helpers/console.ts'
import { jobRunner } from './helpers/jobs.ts'

async function setupImports(t: ExecutionContext, options?: Parameters<typeof setupConsole>[1]) {
	const all = await setupConsole(t, options)
	const { page, app, withSecretKey: headers } = all
	const { run } = jobRunner(all)
	return {
		...all,
		choose: (text: string) =>
			page
				.getByLabel('CSV file')
				.setInputFiles({ name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(text) }),
		/** Does the work of the job that the page follows. */
		async runJob(before = '') {
			await page.waitForURL((url) => url.search.includes('job=') && url.href !== before)
			await run(new URL(page.url()).searchParams.get('job')!)
			return page.url()
		},
		contacts: async (): Promise<Record<string, object>> => {
			const { data } = (await app.inject({ url: '/contacts', headers })).json()
			return Object.fromEntries(
				data.map((one: { email: string; data: object }) => [one.email, one.data]),
			)
		},
	}
}

test('the preview reads headers as the import does', (t) => {
	for (const text of [
		'email,name\na@b.co,Ann\n',
		'\uFEFFEmail;Name\r\na@b.co;Ann\r\n',
		'sep=;\nemail;"na;me"\na@b.co;"Ann\nB"\n',
		'\n\nemail\tname\t\na@b.co\t\n',
		'"email","the ""name""",\n',
		'email,"a\nb"\r\nx@y.co,1',
	]) {
		const file = new Uint8Array(Buffer.from(text))
		const { header } = readSlice({ file, at: 0, row: 0, header: null })
		const head = readHead(text, true)!
		t.deepEqual(
			head.names.map((name) => name.toLowerCase()),
			header!.names,
			JSON.stringify(text),
		)
		t.is(head.delimiter, header!.delimiter)
	}
	t.is(readHead('', true), undefined)
})

test('a file is imported as its columns are mapped, its wrong rows are listed, and it is undone', async (t) => {
	const { page, open, choose, runJob, contacts, faults } = await setupImports(t)
	await open('contacts/import')
	t.deepEqual(await barriersOf(page), [])
	await choose('E-Mail;Full Name;Plan;Id\nann@example.org;Ann;pro;1\nnobody;Ben;free;2\n')
	await page.getByLabel('Field for Full Name').fill('name')
	await page.getByLabel('Plan becomes').selectOption('Leave out')
	t.is(await page.getByLabel('E-Mail becomes').inputValue(), 'email')
	t.deepEqual(await barriersOf(page), [])
	await page.getByRole('button', { name: 'Import', exact: true }).click()
	await page.getByText('The import is about to begin').waitFor()
	const first = await runJob()
	await page.getByText('The import is complete').waitFor()
	t.deepEqual(await contacts(), { 'ann@example.org': { name: 'Ann' } })
	const wrong = page.getByRole('table', { name: 'Rows that were not imported' })
	await wrong.getByText('Row 3').waitFor()
	const downloading = page.waitForEvent('download')
	await page.getByRole('button', { name: 'Download all as CSV' }).click()
	t.regex((await downloading).suggestedFilename(), /^errors-.*\.csv$/)
	t.deepEqual(await barriersOf(page), [])
	await page.getByRole('button', { name: 'Undo the import' }).click()
	await page.getByText('Deletes the 1 contact that it created').waitFor()
	await page.getByRole('alertdialog').getByRole('button', { name: 'Undo the import' }).click()
	await runJob(first)
	await page.getByText('The undo is complete').waitFor()
	t.deepEqual(await contacts(), {})
	await page.goBack()
	await page.getByText('The import is complete').waitFor()
	await page.getByRole('link', { name: 'Show the undo' }).waitFor()
	t.is(await page.getByRole('button', { name: 'Undo the import' }).count(), 0)
	t.deepEqual(faults, [])
})

test('of a dropped file, the column with addresses is chosen, and each name is used once', async (t) => {
	const { page, open } = await setupImports(t)
	await open('contacts/import')
	const dataTransfer = await page.evaluateHandle(`(() => {
		const dropped = new DataTransfer()
		dropped.items.add(new File(['Address,Name,Nick,First name\\nann@example.org,Ann,A,Ann\\n'], 'people.csv'))
		return dropped
	})()`)
	await page.getByText('Drop a CSV file here').dispatchEvent('drop', { dataTransfer })
	await page.getByText('Choose the column with the addresses.').waitFor()
	t.is(await page.getByLabel('Field for First name').inputValue(), 'first_name')
	t.true(await page.getByRole('button', { name: 'Import', exact: true }).isDisabled())
	await page.getByLabel('Address becomes').selectOption('Email address')
	await page.getByLabel('Field for Nick').fill('name')
	await page.getByText('Two columns become name.').waitFor()
	await page.getByLabel('Nick becomes').selectOption('Leave out')
	t.true(await page.getByRole('button', { name: 'Import', exact: true }).isEnabled())
})

test('a file that is not UTF-8 or has no header is refused at once', async (t) => {
	const { page, open } = await setupImports(t)
	await open('contacts/import')
	const file = { name: 'people.csv', mimeType: 'text/csv' }
	const input = page.getByLabel('CSV file')
	await input.setInputFiles({ ...file, buffer: Buffer.from([0x65, 0x6d, 0xff, 0xfe]) })
	await page.getByText('The file is not UTF-8').waitFor()
	await input.setInputFiles({ ...file, buffer: Buffer.from('\n\n') })
	await page.getByText('The file has no header').waitFor()
	t.pass()
})

test('an import is cancelled before it begins, on a phone, and found again', async (t) => {
	const { page, open, choose, contacts, faults } = await setupImports(t, {
		browser: { viewport: phone },
	})
	await open('contacts/import')
	await choose('email\nann@example.org\n')
	t.true(await page.evaluate(`document.documentElement.scrollWidth <= ${phone.width}`))
	await page.getByRole('button', { name: 'Import', exact: true }).click()
	await page.getByRole('button', { name: 'Cancel the rest' }).click()
	await page.getByText('The import is cancelled').waitFor()
	t.deepEqual(await contacts(), {})
	await page.getByRole('link', { name: 'Import another file' }).click()
	// As after a log-out, or in another browser.
	await page.evaluate('localStorage.clear()')
	await page.reload()
	await page.getByRole('table', { name: 'Imports' }).getByText('Cancelled').waitFor()
	t.deepEqual(await barriersOf(page), [])
	await page.getByRole('link', { name: 'people.csv' }).click()
	await page.getByText('The import is cancelled').waitFor()
	t.deepEqual(faults, [])
})

test('a corrected file of the same name can be chosen again', async (t) => {
	const { page, open, choose } = await setupImports(t)
	await open('contacts/import')
	await choose('\n\n')
	await page.getByText('The file has no header').waitFor()
	// A browser reports no change when the value stays the same: the name of the file.
	t.is(await page.getByLabel('CSV file').inputValue(), '')
	await choose('email\nann@example.org\n')
	await page.getByRole('button', { name: 'Import', exact: true }).waitFor()
})

test('a list of wrong rows that cannot be downloaded says why, and is asked for again', async (t) => {
	const { page, open, choose, runJob } = await setupImports(t)
	await open('contacts/import')
	await choose('email\nnobody\n')
	await page.getByRole('button', { name: 'Import', exact: true }).click()
	await runJob()
	const download = page.getByRole('button', { name: 'Download all as CSV' })
	await download.waitFor()
	await page.route('**/errors*', (route) => route.abort())
	await download.click()
	await page.getByRole('alert').getByText('Check your connection').waitFor()
	await page.unroute('**/errors*')
	const downloading = page.waitForEvent('download')
	await download.click()
	t.regex((await downloading).suggestedFilename(), /^errors-.*\.csv$/)
	t.is(await page.getByRole('alert').count(), 0)
})
