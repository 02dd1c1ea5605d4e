/** `tbf_rate`, `tbf_depth`, `tbf_jobid_cache_size`: parameters of the kernel module that schedules (spec/lustre 2.2). */
import type { loadedModule } from '../../tbf/tbf-module.ts'
import type { Parameter } from '../parameter.ts'
import { file, numberLine } from './file.ts'

/** Kernel module loaded on a server. */
export type Module = ReturnType<typeof loadedModule>

const NAMES = { tbf_depth: 'depth', tbf_jobid_cache_size: 'jobidCacheSize', tbf_rate: 'rate' } as const

/** Module parameters; writes change the module object that its services read. */
export const moduleParameters = (module: Module): Parameter[] =>
  Object.entries(NAMES).map(([name, key]) =>
    file(
      'module',
      [name],
      numberLine(
        () => module[key],
        (n) => {
          module[key] = n
        },
      ),
    ),
  )
