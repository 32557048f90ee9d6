import { serve } from '../../mail/threads/serve.ts'
import { tasks } from './tasks.ts'

serve(tasks)
