export * from './bulk-job.ts'
export * from './import-contacts.ts'
export * from './send.ts'
export * from './undo-import.ts'
