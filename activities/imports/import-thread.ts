import { serve } from '../../mail/threads/serve.ts'
import { readSlice } from './import-slice.ts'

const importTasks = { readSlice }

export type ImportTasks = typeof importTasks

serve(importTasks)
