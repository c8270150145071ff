"""Checks etc/prometheus for what Grafana and Prometheus need, as far as that is possible without
Grafana.

    metrics_board.py board BOARD      prints a rules file with each expression of the board
    metrics_board.py series BOARD METRICS   prints a test that each of them has a value, if all
                                      samples that `later metrics` has printed were 0 before
    metrics_board.py alerts RULES TESTS

Faults are printed on standard error, one per line, and the status is then 1.
"""
import json
import re
import sys

BUILT_IN = {'__rate_interval', '__interval', '__range', '__all'}
faults = []


def check(right, what):
    if not right:
        faults.append(what)


def variables_in(text):
    return set(re.findall(r'\$\{?(\w+)', text))


def expand(expression, chosen='.*'):
    """As Grafana would, with these queues chosen: all of them, if none is said."""
    return re.sub(r'\$\{?(\w+)\}?', lambda found: {'__rate_interval': '5m'}.get(found[1], chosen),
                  expression)


def check_variables(board):
    names = set()
    for variable in board['templating']['list']:
        check(variable['type'] in ('datasource', 'query'), f"variable type {variable['type']}")
        query = variable['query']
        text = query if isinstance(query, str) else query['query']
        check(variables_in(text) <= names, f"{variable['name']} uses what comes later")
        if variable['type'] == 'query':
            check(variable['datasource']['uid'] == '${datasource}', f"{variable['name']}: source")
            check(re.fullmatch(r'label_values\((\w+), \w+\)', text), f"{variable['name']}: {text}")
        names.add(variable['name'])
    check('datasource' in names, 'no variable for the data source')
    return names


def overlap(one, other):
    return (one['x'] < other['x'] + other['w'] and other['x'] < one['x'] + one['w'] and
            one['y'] < other['y'] + other['h'] and other['y'] < one['y'] + one['h'])


def check_places(panels):
    places = [panel['gridPos'] for panel in panels]
    for i, place in enumerate(places):
        title = panels[i]['title']
        check(place['x'] >= 0 and place['w'] > 0 and place['x'] + place['w'] <= 24, f'{title}: x')
        check(not any(overlap(place, other) for other in places[:i]), f'{title} lies on another')


def check_panel(panel, known):
    title = panel['title']
    check(panel['type'] in ('stat', 'timeseries'), f"{title}: type {panel['type']}")
    check(panel['datasource'] == {'type': 'prometheus', 'uid': '${datasource}'}, f'{title}: source')
    references = [target['refId'] for target in panel['targets']]
    check(references and len(set(references)) == len(references), f'{title}: refId')
    for target in panel['targets']:
        check(variables_in(target['expr']) <= known, f"{title}: unknown variable: {target['expr']}")
        kept = re.findall(r'\w+', ' '.join(re.findall(r' by \(([^)]*)\)', target['expr'])[:1]))
        named = re.findall(r'\{\{(\w+)\}\}', target.get('legendFormat', ''))
        check(set(named) <= set(kept), f'{title}: the legend names {named}, there is {kept}')
        yield target['expr']


def check_board(path):
    with open(path, encoding='utf-8') as file:
        board = json.load(file)
    check(re.fullmatch(r'[A-Za-z0-9_-]{1,40}', board['uid']), 'uid')
    check(board['schemaVersion'] >= 36, 'schemaVersion: data sources are objects from 36 on')
    check('id' not in board, 'a board with an id cannot be imported')
    names = check_variables(board)
    panels = board['panels']
    ids = [panel['id'] for panel in panels]
    check(len(set(ids)) == len(ids), 'panels share an id')
    check_places(panels)
    expressions = [expression for panel in panels
                   for expression in check_panel(panel, names | BUILT_IN)]
    rules = [{'record': f'board:{i}', 'expr': expand(expression)}
             for i, expression in enumerate(expressions)]
    json.dump({'groups': [{'name': 'board', 'rules': rules}]}, sys.stdout)


def samples_of(path):
    """Name with labels, value; counters and gauges were 0 a minute before."""
    with open(path, encoding='utf-8') as file:
        lines = [line.rpartition(' ') for line in file if not line.startswith('#')]
    return [{'series': name, 'values': '0 ' + f'{float(value):.6f} ' * 5} for name, _, value in lines]


def has_value(expression):
    """It is one where there is one, and that is a number: what is none does not equal itself."""
    return {'expr': f'count(({expression}) == ({expression})) > bool 0', 'eval_time': '5m',
            'exp_samples': [{'labels': '{}', 'value': 1}]}


def print_series(board, metrics):
    with open(board, encoding='utf-8') as file:
        panels = json.load(file)['panels']
    tests = [has_value(expand(target['expr'], chosen)) for panel in panels
             for target in panel['targets'] for chosen in ('.*', '(default|spread)')]
    json.dump({'tests': [{'interval': '1m', 'input_series': samples_of(metrics),
                          'promql_expr_test': tests}]}, sys.stdout)


def check_alerts(rules, tests):
    """Each alert is seen to fire, and to be silent."""
    with open(rules, encoding='utf-8') as file:
        alerts = re.findall(r'- alert: (\w+)', file.read())
    with open(tests, encoding='utf-8') as file:
        seen = re.findall(r'alertname: (\w+)[,\s]+exp_alerts:\s*(\[\])?', file.read())
    check(alerts, 'no alerts')
    for alert in alerts:
        check((alert, '') in seen, f'{alert} is never seen to fire')
        check((alert, '[]') in seen, f'{alert} is never seen to be silent')


if sys.argv[1] == 'board':
    check_board(sys.argv[2])
elif sys.argv[1] == 'series':
    print_series(sys.argv[2], sys.argv[3])
else:
    check_alerts(sys.argv[2], sys.argv[3])
for fault in faults:
    print(fault, file=sys.stderr)
sys.exit(bool(faults))
