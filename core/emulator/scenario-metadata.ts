/** Section `control.metadata`: metadata control through TBF rules on metadata servers. */
import * as z from 'zod'
import { ALGORITHMS } from '../padll/algorithms/algorithm.ts'
import { parsePolicies } from '../padll/rules/policy-schedule.ts'
import { isScope, type Scope } from '../padll/vocabulary.ts'

const RATE_MAX = 1e9
const RATE_FAULT = `expected a system limit of 1 to ${RATE_MAX} op/s`

const limits = z
  .record(
    z.string(),
    z.number({ error: RATE_FAULT }).min(1, { error: RATE_FAULT }).max(RATE_MAX, { error: RATE_FAULT }),
  )
  .superRefine((of, context) => {
    for (const scope of Object.keys(of)) {
      if (isScope(scope)) continue
      context.addIssue({ code: 'custom', path: [scope], message: 'not an operation or class of PADLL' })
    }
  })

export const metadata = z
  .strictObject({
    algorithm: z.enum(ALGORITHMS).default('psfa'),
    epsilon: z.number().min(0).max(1).default(0.25),
    /** Divisor of `uniform`; default: the number of jobs. */
    slots: z.number().int().min(1).max(10_000).optional(),
    limits: limits.default({}).describe('system limit of all jobs with a policy, op/s by operation or class'),
    policies: z
      .string()
      .max(262_144)
      .default('')
      .superRefine((text, context) => {
        const fault = parsePolicies(text).faults.find((f) => f.severity === 'error')
        if (!fault) return
        const message = `line ${fault.line}, column ${fault.column} of the policies: ${fault.message}`
        context.addIssue({ code: 'custom', message })
      })
      .describe('a policy file: lines such as `1 0 demand app1 meta_op 30000`, or YAML'),
  })
  .describe('PADLL on metadata servers: policies as TBF rules of mdt and mdt_readpage')

/** System limits as pairs, in the order of the file. */
export const limitsOf = ({ limits: of }: z.infer<typeof metadata>): { scope: Scope; rate: number }[] =>
  Object.entries(of).flatMap(([scope, rate]) => (isScope(scope) ? [{ scope, rate }] : []))
