import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { ImportJob } from '../index.ts'
import { type Command, exitCodes, UsageError, wordOf } from './command.ts'
import { patiently, retries } from './following.ts'
import { rows } from './output.ts'

export const contactsImport: Command = {
	usage: 'FILE.csv | -',
	mostWords: 1,
	summary: 'Import contacts from a CSV file with a column email. Waits until it is done.',
	options: {},
	help: {},
	async run(context) {
		const { tempost, out, signal } = context
		const name = wordOf(context, 'The CSV file')
		const file = name === '-' ? await buffer(context.input()) : await fileOf(name)
		const queued = await tempost.contacts.import({ file }, { signal })
		const wait = () =>
			tempost.jobs.wait(queued, {
				signal,
				retries,
				onProgress: ({ state, progress }) => out.progress(progress / 100, state),
			})
		const job = await patiently(context, wait)
		const { result } = job as ImportJob
		out.show(job, () => rows({ ...result, errors: undefined }))
		const failed = result && 'errors' in result ? result.errors : []
		if (!out.isJson)
			for (const { row, email, error } of failed) out.note(`Row ${row} (${email ?? '?'}): ${error}`)
		return failed.length > 0 ? exitCodes.failed : exitCodes.done
	},
}

/** The service shows its name, and takes other extensions than .csv because of its type. */
async function fileOf(path: string) {
	try {
		return new File([await readFile(path)], basename(path), { type: 'text/csv' })
	} catch (error) {
		throw new UsageError(`${path} cannot be read: ${(error as Error).message}`)
	}
}
