import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bundleWorkflowCode, type WorkflowBundleOption } from '@temporalio/worker'

const place = (name: string) => fileURLToPath(new URL(`../workflows/${name}`, import.meta.url))

export const bundleNames = { plain: 'bundle.js', traced: 'traced-bundle.js' }

/** The workflows as one file: from the build, or bundled from their sources now. */
export async function workflowBundle(
	kind: keyof typeof bundleNames,
): Promise<WorkflowBundleOption> {
	const codePath = place(bundleNames[kind])
	return existsSync(codePath) ? { codePath } : bundleWorkflows(kind)
}

/** Only a worker that traces has the interceptors in its bundle. */
export const bundleWorkflows = (kind: keyof typeof bundleNames) =>
	bundleWorkflowCode({
		workflowsPath: place('index.ts'),
		workflowInterceptorModules: kind === 'traced' ? [place('trace-headers.ts')] : [],
		logger: quiet,
	})

const silent = () => {}
const complain = (message: string) => void process.stderr.write(`${message}\n`)
const quiet = {
	log: silent,
	trace: silent,
	debug: silent,
	info: silent,
	warn: complain,
	error: complain,
}
