# SpamAssassin's Bayes alone: reads lines of "ham", "spam" or "score", a tab and a path.
use strict;
use warnings;
use Mail::SpamAssassin;
use Mail::SpamAssassin::PerMsgStatus;

my ($folder) = @ARGV;
my $tlds = '';
if (open my $file, '<', '/usr/share/spamassassin/20_aux_tlds.cf') { local $/; $tlds = <$file> }
my $sa = Mail::SpamAssassin->new({
    dont_copy_prefs => 1, userprefs_filename => '/dev/null', local_tests_only => 1,
    rules_filename => '/dev/null', site_rules_filename => '/dev/null',
    config_text => "loadplugin Mail::SpamAssassin::Plugin::Bayes\nuse_bayes 1\n"
        . "bayes_path $folder/bayes\nbayes_auto_learn 0\nbayes_auto_expire 0\n"
        . "body BAYES_50 eval:check_bayes('0','1')\n$tlds",
});
$sa->init(1);
$sa->init_learner({caller_will_untie => 1, learn_to_journal => 0, wait_for_lock => 1});
my ($bayes) = grep { ref eq 'Mail::SpamAssassin::Plugin::Bayes' } @{$sa->{plugins}{plugins}};
$| = 1;
while (my $line = <STDIN>) {
    chomp $line;
    my ($task, $path) = split /\t/, $line;
    open my $file, '<:raw', $path or die "$path: $!";
    my $raw = do { local $/; <$file> };
    my $mail = $sa->parse($raw, 1);
    if ($task eq 'score') {
        my $status = Mail::SpamAssassin::PerMsgStatus->new($sa, $mail);
        my $score = $bayes->scan($status, $mail);
        printf "%.17g\n", defined $score ? $score : 0.5;
        $status->finish;
    } else {
        $sa->learn($mail, undef, $task eq 'spam', 0)->finish;
        print "1\n";
    }
    $mail->finish;
}
$sa->finish_learner();
