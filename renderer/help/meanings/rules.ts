/** Explanations: columns of the rule list, the ceiling, and related values. */
import { OPERATOR_PREFIX, RULE_PREFIXES } from '#core/controllers/registry.ts'
import type { Meaning } from '../meaning.ts'

export const rulesMeanings = [
  {
    id: 'rules.rank',
    title: 'Position in match order',
    unit: '',
    means: 'Rules are tried from the top; the first match applies to the RPC.',
    formula: '',
    source: 'order of ost.OSS.ost_io.nrs_tbf_rule; rank= of start and change',
    caveat: 'A new rule is added at the head of the list. A change of rank alone does not reclassify existing classes.',
  },
  {
    id: 'rules.staged',
    title: 'Staged',
    unit: '',
    means: 'On commit: + is started, ~ changed, \u2212 stopped. Not on any server yet.',
    formula: '',
    source: 'the staged changes of this console',
  },
  {
    id: 'rules.name',
    title: 'Name and conditions',
    unit: '',
    means: 'Name of at most 15 characters and the conditions: & joins fields, a list matches any of its items.',
    formula: '',
    source: 'ost.OSS.ost_io.nrs_tbf_rule',
    caveat: `Rules with ${RULE_PREFIXES.join(', ')} or ${OPERATOR_PREFIX} are managed by Sluice; it never stops other rules.`,
  },
  {
    id: 'rules.rate',
    title: 'Rate',
    unit: 'RPC/s',
    means:
      'RPC/s of one class, per CPT, queue and server. The smaller line is the effective ceiling of one class, over all CPTs and servers in the shown queue.',
    formula: 'ceiling = sum of the rates over CPTs and servers',
    source: 'rate of nrs_tbf_rule, printed for each CPT',
    caveat:
      'Not divided by the number of CPTs or targets. A client\u2019s NID reaches one CPT only, so a class of one NID stays below the ceiling; a job\u2019s RPCs reach all CPTs. The other queue has its own rules.',
  },
  {
    id: 'rules.matching',
    title: 'Classes (ref)',
    unit: 'classes',
    means: 'TBF classes that the rule matched. If it stays 0 for a minute, nothing matches the rule.',
    formula: 'sum of ref over CPTs and servers, in the shown queue',
    source: 'ref of nrs_tbf_rule',
    caveat: 'An idle class still counts: the server keeps up to 8 192 idle classes before it drops the oldest.',
  },
  {
    id: 'rules.used',
    title: 'Tokens used',
    unit: '% of the rate',
    means:
      'RPCs served to the job in the last second, relative to the rate of its rule. Near 100 % the rule throttles it.',
    formula: 'RPC/s served / sum over servers of the rate of one CPT; on metadata servers / ceiling',
    source: 'job_stats; nrs_tbf_rule',
    caveat:
      'Known for rules that name one job only. With several CPTs per OSS it can exceed 100 %. On metadata servers all operations of the job count, whatever service runs them.',
  },
  {
    id: 'rules.expires',
    title: 'Expires',
    unit: 'time left',
    means:
      'Time until the server stops the rule, even if this console is closed. Of a controller\u2019s rule: the end of its lease, which the controller renews.',
    formula: 'end of its timer or lease \u2212 now',
    source: 'transient systemd timer of each server',
    caveat: 'A reboot of the server removes timers and rules. Rules set outside Sluice have no timer.',
  },
  {
    id: 'rules.servers',
    title: 'Servers',
    unit: 'with the rule / total',
    means:
      'Number of servers that have this rule. Fewer than all is drift, and so is another rate; the tooltip lists these servers.',
    formula: 'servers with a rule of this name and these conditions / servers',
    source: 'nrs_tbf_rule of every server',
    caveat:
      'Rules of a controller differ by server, which is not drift. After a failover the target\u2019s new server has no rule: set_param is not persistent.',
  },
  {
    id: 'rules.reviewJobs',
    title: 'Jobs that change',
    unit: 'jobs',
    means:
      'Live jobs that a started or changed rule matches; a range if some only may match. Below: the first of them, and the number of other jobs whose rule or rate changes.',
    formula: 'first match in rule order, before and after',
    source: 'obdfilter.*.job_stats against the staged list',
    caveat:
      'Jobs that start later are not in this list; they are matched when they start. If a rule uses a field that job_stats does not have, the jobs that it could match are listed as possible matches.',
  },
  {
    id: 'rules.reviewTargets',
    title: 'Reach',
    unit: 'targets on servers',
    means: 'Targets that these jobs use, and servers that the commands are sent to.',
    formula: 'distinct targets of the affected jobs; servers with a command / servers of the service',
    source: 'obdfilter.*.job_stats; the staged changes',
    caveat: 'Servers that do not respond are listed in the result; success is never assumed.',
  },
  {
    id: 'rules.reviewLimit',
    title: 'Remaining limit',
    unit: 'RPC/s',
    means:
      'Mean rate over five minutes of the jobs that a started or changed rule matches or may match, and the maximum that the rules then allow them together.',
    formula:
      'sum over their jobs of rate \u00D7 CPTs \u00D7 servers \u00D7 classes; no limit if only default limits one of them',
    source: 'job_stats; nrs_tbf_rule, cpu_partition_table',
    caveat: 'An upper bound: devices and the job\u2019s own demand may limit it further.',
  },
  {
    id: 'rules.reviewRefill',
    title: 'Initial burst',
    unit: 'tokens',
    means:
      'Tokens available immediately after the commit: an existing class starts with a full bucket when its rate changes.',
    formula: 'bucket depth \u00D7 ref of the rules with a changed rate, summed over CPTs, queues and servers',
    source: 'nrs_tbf: a changed class is filled',
    caveat:
      'Up to this number of RPCs pass before the rate takes effect. Classes of new rules start full, too, and are not counted.',
  },
] as const satisfies readonly Meaning[]
