/** The answer at `/` for programs: what this service is, and where to read on. */
export const serviceCard = (publicUrl: string) => ({
	name: 'Tempost',
	version: '1.0.0',
	docs: `${publicUrl}/docs`,
	openapi: `${publicUrl}/openapi.json`,
	health: `${publicUrl}/health`,
})
