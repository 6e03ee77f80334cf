// c4ctl completion: scripts for the shells. Words are listed here; ids of verdicts and names of
// jobs are asked for when they are completed.
#include <string_view>

#include "analyzer/cli/commands.h"
#include "fmt/format.h"

namespace c4::cli {
namespace {

constexpr std::string_view kBash =
    R"sh(# c4ctl completion for bash:  source <(c4ctl completion bash)
_c4ctl() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      verdicts|jobs|status|record|analyze|completion|version) command=${COMP_WORDS[i]}; break ;;
    esac
  done
  case $before in
    -o|--output) COMPREPLY=($(compgen -W "table wide json name" -- "$word")); return ;;
    -j|--job) COMPREPLY=($(compgen -W "$(c4ctl --timeout 1s jobs -o name 2>/dev/null)" -- "$word")); return ;;
    -f|--file) COMPREPLY=($(compgen -f -- "$word")); return ;;
    -s|--server|--timeout|-d|--duration) return ;;
  esac
  case $command in
    "") COMPREPLY=($(compgen -W "verdicts jobs status record analyze completion version --server --timeout --help --version" -- "$word")) ;;
    verdicts)
      if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "--job --output --watch --all --no-headers --help" -- "$word"))
      else
        COMPREPLY=($(compgen -W "$(c4ctl --timeout 1s verdicts --all -o name 2>/dev/null)" -- "$word"))
      fi ;;
    jobs) COMPREPLY=($(compgen -W "--output --no-headers --help" -- "$word")) ;;
    status) COMPREPLY=($(compgen -W "--output --help" -- "$word")) ;;
    record) COMPREPLY=($(compgen -W "--job --file --duration --overwrite --help" -- "$word")) ;;
    analyze)
      if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "--output --strict --exit-code --help" -- "$word"))
      else
        COMPREPLY=($(compgen -f -- "$word"))
      fi ;;
    completion) COMPREPLY=($(compgen -W "bash zsh fish" -- "$word")) ;;
  esac
}
complete -o filenames -F _c4ctl c4ctl
)sh";

constexpr std::string_view kZsh = R"sh(#compdef c4ctl
# c4ctl completion for zsh:  c4ctl completion zsh > "${fpath[1]}/_c4ctl"
_c4ctl() {
  local -a commands
  commands=(
    'verdicts:what is wrong, and where'
    'jobs:the training jobs that are watched'
    'status:the analyzer and its agents'
    'record:record what the analyzer is given'
    'analyze:find faults in a recorded trace'
    'completion:print a completion script'
    'version:print the version'
  )
  _arguments -C \
    '(-s --server)'{-s,--server}'[address of the analyzer]:address:' \
    '--timeout[how long to wait for an answer]:duration:' \
    '--help[help]' '--version[version]' \
    '1:command:->command' '*::argument:->argument'
  case $state in
    command) _describe command commands ;;
    argument)
      case $words[1] in
        verdicts) _arguments '(-j --job)'{-j,--job}'[of one job]:job:($(c4ctl --timeout 1s jobs -o name 2>/dev/null))' \
          '(-o --output)'{-o,--output}'[format]:format:(table wide json name)' \
          '(-w --watch)'{-w,--watch}'[go on with changes]' '(-A --all)'{-A,--all}'[also information]' \
          '--no-headers[no headings]' ':id:($(c4ctl --timeout 1s verdicts --all -o name 2>/dev/null))' ;;
        jobs) _arguments '(-o --output)'{-o,--output}'[format]:format:(table wide json name)' '--no-headers[no headings]' ;;
        status) _arguments '(-o --output)'{-o,--output}'[format]:format:(table json)' ;;
        record) _arguments '(-j --job)'{-j,--job}'[of one job]:job:($(c4ctl --timeout 1s jobs -o name 2>/dev/null))' \
          '(-f --file)'{-f,--file}'[where to]:file:_files' '(-d --duration)'{-d,--duration}'[end after]:time:' \
          '--overwrite[also when the file is there]' ;;
        analyze) _arguments '(-o --output)'{-o,--output}'[format]:format:(table wide json)' \
          '--strict[stop at a bad line]' '--exit-code[10 when there is a fault]' '*:trace:_files' ;;
        completion) _values shell bash zsh fish ;;
      esac ;;
  esac
}
_c4ctl "$@"
)sh";

constexpr std::string_view kFish =
    R"sh(# c4ctl completion for fish:  c4ctl completion fish > ~/.config/fish/completions/c4ctl.fish
set -l commands verdicts jobs status record analyze completion version
complete -c c4ctl -f
complete -c c4ctl -s s -l server -x -d 'address of the analyzer'
complete -c c4ctl -l timeout -x -d 'how long to wait for an answer'
complete -c c4ctl -n "not __fish_seen_subcommand_from $commands" -a verdicts -d 'what is wrong, and where'
complete -c c4ctl -n "not __fish_seen_subcommand_from $commands" -a jobs -d 'the training jobs that are watched'
complete -c c4ctl -n "not __fish_seen_subcommand_from $commands" -a status -d 'the analyzer and its agents'
complete -c c4ctl -n "not __fish_seen_subcommand_from $commands" -a record -d 'record what the analyzer is given'
complete -c c4ctl -n "not __fish_seen_subcommand_from $commands" -a analyze -d 'find faults in a recorded trace'
complete -c c4ctl -n "not __fish_seen_subcommand_from $commands" -a completion -d 'print a completion script'
complete -c c4ctl -n "not __fish_seen_subcommand_from $commands" -a version -d 'print the version'
complete -c c4ctl -n '__fish_seen_subcommand_from verdicts jobs' -s o -l output -x -a 'table wide json name'
complete -c c4ctl -n '__fish_seen_subcommand_from verdicts' -a '(c4ctl --timeout 1s verdicts --all -o name 2>/dev/null)'
complete -c c4ctl -n '__fish_seen_subcommand_from verdicts record' -s j -l job -x -a '(c4ctl --timeout 1s jobs -o name 2>/dev/null)'
complete -c c4ctl -n '__fish_seen_subcommand_from verdicts' -s w -l watch -d 'go on with changes'
complete -c c4ctl -n '__fish_seen_subcommand_from verdicts' -s A -l all -d 'also information'
complete -c c4ctl -n '__fish_seen_subcommand_from verdicts jobs' -l no-headers -d 'no headings'
complete -c c4ctl -n '__fish_seen_subcommand_from status' -s o -l output -x -a 'table json'
complete -c c4ctl -n '__fish_seen_subcommand_from record' -s f -l file -r -F -d 'where to'
complete -c c4ctl -n '__fish_seen_subcommand_from record' -s d -l duration -x -d 'end after this time'
complete -c c4ctl -n '__fish_seen_subcommand_from record' -l overwrite -d 'also when the file is there'
complete -c c4ctl -n '__fish_seen_subcommand_from analyze' -s o -l output -x -a 'table wide json'
complete -c c4ctl -n '__fish_seen_subcommand_from analyze' -l strict -d 'stop at a bad line'
complete -c c4ctl -n '__fish_seen_subcommand_from analyze' -l exit-code -d '10 when there is a fault'
complete -c c4ctl -n '__fish_seen_subcommand_from analyze' -F
complete -c c4ctl -n '__fish_seen_subcommand_from completion' -a 'bash zsh fish'
)sh";

}  // namespace

int RunCompletion(const std::string& shell, const Output& output) {
  *output.out << (shell == "bash" ? kBash : shell == "zsh" ? kZsh : kFish);
  return kExitOk;
}

}  // namespace c4::cli
