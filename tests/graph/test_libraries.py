"""The functions of the graph's expressions beyond those of the language."""

import pytest

from headgate import cel
from headgate.graph.compile.expressions import compile_in


def value(text: str, **bindings: object) -> object:
    return compile_in(bindings, text).evaluate(bindings)


@pytest.mark.parametrize(
    "text",
    [
        "[1, 2, 3].sum() == 6",
        "[1.5, 2.5].sum() == 4.0",
        "[duration('1m'), duration('1s')].sum() == duration('61s')",
        "[].sum() == 0",
        "[3, 1, 2].min() == 1 && [3, 1, 2].max() == 3",
        "['b', 'a'].min() == 'a'",
        "[1, 2, 2].isSorted() && ![2, 1].isSorted() && [].isSorted()",
        "['a', 'b', 'a'].indexOf('a') == 0 && ['a', 'b', 'a'].lastIndexOf('a') == 2",
        "['a'].indexOf('c') == -1",
        "'abc'.indexOf('c') == 2",
        "lists.setAtIndex([1, 2], 1, 9) == [1, 9]",
        "lists.insertAtIndex([1, 2], 2, 9) == [1, 2, 9]",
        "lists.removeAtIndex([1, 2], 0) == [2]",
        "'abc 123'.find('[0-9]+') == '123'",
        "'abc'.find('x') == ''",
        "'a1b22'.findAll('[0-9]+') == ['1', '22']",
        "'a1b22c3'.findAll('[0-9]+', 2) == ['1', '22']",
        "url('https://user@example.com:8080/p').getHost() == 'example.com:8080'",
        "url('https://example.com:8080/p?x=1').getScheme() == 'https'",
        "url('https://example.com:8080/p').getHost() == 'example.com:8080'",
        "url('https://[::1]:80/p').getHostname() == '::1'",
        "url('https://example.com/p').getPort() == ''",
        "url('https://example.com/a%20b/é').getEscapedPath() == '/a%20b/%C3%A9'",
        "url('/p?x=1&x=2&y=%41+b').getQuery() == {'x': ['1', '2'], 'y': ['A b']}",
        "isURL('https://a.b/c') && isURL('/absolute') && !isURL('relative') && !isURL('../x') && !isURL('http://a b')",
        "url('https://a.b') == url('https://a.b')",
        "quantity('1Gi').isGreaterThan(quantity('1G'))",
        "quantity('500m').isLessThan(quantity('1'))",
        "quantity('1500m').compareTo(quantity('1.5')) == 0",
        "quantity('1Ki') == quantity('1024')",
        "quantity('1k').asInteger() == 1000 && quantity('3e2').asInteger() == 300",
        "!quantity('100m').isInteger() && quantity('2').isInteger()",
        "quantity('-5').sign() == -1 && quantity('0').sign() == 0",
        "quantity('1').add(quantity('500m')).sub(1).asApproximateFloat() == 0.5",
        "isQuantity('1.5Mi') && !isQuantity('1.5Mb') && !isQuantity('') && !isQuantity('1e2Ki')",
        "ip('10.0.0.1').family() == 4 && ip('::1').family() == 6",
        "ip('127.0.0.1').isLoopback() && ip('0.0.0.0').isUnspecified()",
        "ip('169.254.1.1').isLinkLocalUnicast() && ip('224.0.0.5').isLinkLocalMulticast()",
        "ip('10.0.0.1').isGlobalUnicast() && !ip('255.255.255.255').isGlobalUnicast()",
        "string(ip('::0001')) == '::1' && ip.isCanonical('::1') && !ip.isCanonical('::0001')",
        "isIP('1.2.3.4') && !isIP('1.2.3') && !isIP('fe80::1%eth0') && !isIP('::ffff:1.2.3.4')",
        "cidr('10.1.0.0/16').containsIP('10.1.2.3') && !cidr('10.1.0.0/16').containsIP(ip('10.2.0.1'))",
        "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && !cidr('10.0.0.0/8').containsCIDR(cidr('::/0'))",
        "cidr('10.1.2.3/8').prefixLength() == 8 && string(cidr('10.1.2.3/8').masked()) == '10.0.0.0/8'",
        "cidr('10.1.2.3/8').ip() == ip('10.1.2.3')",
        "isCIDR('10.0.0.0/8') && !isCIDR('10.0.0.0') && !isCIDR('10.0.0.0/33') && !isCIDR('10.0.0.0/08')",
        "semver('1.2.3').isLessThan(semver('1.10.0'))",
        "semver('1.0.0-rc.2').isLessThan(semver('1.0.0-rc.10')) && semver('1.0.0-rc.1').isLessThan(semver('1.0.0'))",
        "semver('1.0.0-1').isLessThan(semver('1.0.0-a')) && semver('1.0.0+x') == semver('1.0.0+y')",
        "semver('v1.2', true).minor() == 2 && semver('1.02.3', true).patch() == 3 && semver('3.0.0').major() == 3",
        "isSemver('1.2.3-rc.1+b') && !isSemver('1.2') && !isSemver('v1.2.3') && isSemver('v1', true)",
        "base64.encode(hash.sha256('a')) == 'ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs='",
        "'%x'.format([hash.fnv64a('a')]) == 'af63dc4c8601ec8c'",
        "'%x'.format([hash.md5('a')]) == '0cc175b9c0f1b6a831c399e269772661'",
        "json.marshal({'b': 1, 'a': [true, null, 1.5, '<x>']}) == r'{\"a\":[true,null,1.5,\"\\u003cx\\u003e\"],\"b\":1}'",
        "json.unmarshal('{\"a\": [1, {\"b\": \"c\"}]}').a[1].b == 'c'",
        "{'a': 1}.merge({'a': 2, 'b': 3}) == {'a': 2, 'b': 3}",
        "{'a': {'x': 1, 'l': [1]}}.deepMerge({'a': {'y': 2, 'l': [2]}}) == {'a': {'x': 1, 'y': 2, 'l': [2]}}",
        "random.seededString(8, 'seed') == random.seededString(8, 'seed')",
        "random.seededString(8, 'seed') != random.seededString(8, 'other')",
        "random.seededString(12, 'seed').matches('^[0-9a-z]{12}$')",
        "lists.range(50).all(i, random.seededInt(5, 9, string(i)) in [5, 6, 7, 8])",
    ],
)  # fmt: skip
def test_functions_give_what_they_should(text: str) -> None:
    assert value(text) is True


def test_seeded_values_are_the_same_for_ever() -> None:
    assert value("random.seededString(10, 'abc')") == "r6qfjs5dr6"
    assert value("random.seededInt(30000, 32768, 'abc')") == 30000 + 0xBA7816BF8F01CFEA % 2768


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("lists.setAtIndex([1], 1, 2)", "index 1 is out of range; 0 to 0 are allowed"),
        ("lists.removeAtIndex([], 0)", "the list is empty"),
        ("[].min()", "min() of an empty list"),
        ("[1, 'a'].sum()", "all elements must be of one type"),
        ("quantity('x')", "is not a quantity"),
        ("quantity('1').isLessThan(semver('1.0.0'))", "cannot be compared"),
        ("quantity('0.5').asInteger()", "not a 64-bit integer"),
        ("ip('x')", "is not an IP address"),
        ("cidr('10.0.0.0/99')", "0 to 32 bits"),
        ("semver('1')", "is not a version"),
        ("url('x')", "neither an absolute URL nor an absolute path"),
        ("json.unmarshal('{')", "json.unmarshal"),
        ("json.unmarshal('NaN')", "NaN is not JSON"),
        ("random.seededString(0, 's')", "allowed are 1 to"),
        ("random.seededInt(5, 5, 's')", "must be below the end"),
        ("x.getHost()", "no such overload: getHost()"),
        ("'a'.find('(')", "missing )"),
    ],
)
def test_what_goes_wrong_is_an_error_that_says_so(text: str, reason: str) -> None:
    with pytest.raises(cel.EvaluationError) as caught:
        value(text, x=1)
    assert reason in str(caught.value)
