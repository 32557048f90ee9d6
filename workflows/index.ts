export * from './send.ts'
