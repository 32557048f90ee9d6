import { serve } from '../../mail/threads/serve.ts'
import { largeMailTasks } from './large-mail-tasks.ts'

serve(largeMailTasks)
