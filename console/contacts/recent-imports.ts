interface RecentImport {
	job: string
	file: string
	at: string
}

const most = 5
const keyOf = (projectId: string) => `tempost.imports.${projectId}`

/** Imports that were begun in this browser, newest first. They can be undone for seven days. */
export function recentImports(projectId: string): RecentImport[] {
	const kept: unknown = JSON.parse(localStorage.getItem(keyOf(projectId)) ?? '[]')
	return Array.isArray(kept) ? kept.filter(isImport) : []
}

export function rememberImport(projectId: string, job: string, file: string) {
	const all = [{ job, file, at: new Date().toISOString() }, ...recentImports(projectId)]
	localStorage.setItem(keyOf(projectId), JSON.stringify(all.slice(0, most)))
}

const isImport = (given: unknown): given is RecentImport =>
	typeof given === 'object' && given !== null && 'job' in given && 'file' in given && 'at' in given
